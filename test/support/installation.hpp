/// Paceline as a user has it: a database, a configuration file, the program, and the ledger of the
/// simulated provider.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "test/support/ledger_reader.hpp"
#include "test/support/private_postgres.hpp"
#include "test/support/run_program.hpp"
#include "test/support/served_node.hpp"

namespace paceline::test {

/// One environment `test`, one route `test:sim`; short leases and timeouts, 4 shards, 200/s and an
/// answer after 60 ms, unless the settings say otherwise. Deleted by the destructor, which must run
/// after those of its nodes. Functions throw where the program or the database refuses. Not
/// thread-safe.
class installation {
public:
  /// The test program's cluster; started by the first who asks.
  static private_postgres& cluster();

  /// `settings` are `key=value` as for `--set` and hold for every command and node.
  explicit installation(std::vector<std::string> settings = {}, bool migrated = true);
  installation(const installation&) = delete;
  installation& operator=(const installation&) = delete;
  ~installation();

  /// Runs `paceline` with our configuration, whatever comes of it.
  program_end run(std::vector<std::string> arguments) const;
  /// The same for what must succeed; its standard output.
  std::string must_run(std::vector<std::string> arguments) const;

  /// Starts a node of this name and returns at once.
  std::unique_ptr<served_node> start(const std::string& name = "one",
                                     const std::vector<std::string>& settings = {}) const;
  /// The same, and waits until it serves.
  std::unique_ptr<served_node> serve(const std::string& name = "one",
                                     const std::vector<std::string>& settings = {}) const;

  /// What `send` runs; for those who want its exit status.
  std::vector<std::string> send_command(const std::vector<std::string>& recipients,
                                        const std::vector<std::string>& more = {}) const;
  /// Starts a campaign and returns its id. `more` are further options of `paceline send`.
  std::int64_t send(const std::vector<std::string>& recipients,
                    const std::vector<std::string>& more = {}) const;
  /// To r1@example.com, r2@example.com ...
  std::int64_t send(int recipients) const;
  static std::vector<std::string> addresses(int count);

  /// A file in our folder; its path.
  std::string write(const std::string& name, const std::string& text) const;
  std::string ledger_file() const { return folder_ + "/ledger"; }
  std::vector<ledger_line> ledger() const { return read_ledger(ledger_file()); }
  std::size_t sent() const { return count_ledger_lines(ledger_file()); }

  /// The first value of a statement as text; empty for NULL and for no row. Connects again where
  /// the connection has been lost.
  std::string ask(const std::string& statement);
  int count(const std::string& statement);
  std::set<std::int64_t> ids(const std::string& statement);
  /// False also where the database doesn't answer.
  bool holds(const std::string& condition);
  std::string state_of(std::int64_t campaign);
  bool is_over(std::int64_t campaign);
  /// "accepted=3 suppressed=1": the states of a campaign's messages, by number.
  std::string states_of(std::int64_t campaign);
  /// Empty where promises 1 and 2 are kept (promises.hpp).
  std::string broken() { return broken(ledger()); }
  /// The same where a stand-in keeps the ledger.
  std::string broken(const std::vector<ledger_line>& ledger);
  /// Returns once no session of a node is left: what a killed one had sent is committed or gone.
  void wait_until_no_node_is_connected();

private:
  class database;

  database& connected();
  std::vector<std::string> with_configuration(std::vector<std::string> arguments) const;

  std::vector<std::string> settings_;
  std::string folder_, dsn_;
  std::unique_ptr<database> database_;
  mutable int files_ = 0;
};

} // namespace paceline::test
