/// A PostgreSQL cluster for one test program.
///
/// The cluster is made by `tools/private_postgres` in a temporary folder under /tmp, is as durable
/// as a real one, and is stopped and deleted by the destructor. Test cases take a fresh database
/// each from `create_database` and so never see one another's rows. If the test program itself is
/// killed the cluster stays: `tools/private_postgres remove DIR` deletes it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace paceline::test {

/// Starts in the constructor. Every function blocks until the server has done it and throws
/// `std::runtime_error` with the end of the server's log where it fails. Not thread-safe.
class private_postgres {
public:
  /// `settings` are lines of postgresql.conf without spaces, as `log_statement=all`.
  explicit private_postgres(std::vector<std::string> settings = {});
  private_postgres(const private_postgres&) = delete;
  private_postgres& operator=(const private_postgres&) = delete;
  ~private_postgres();

  /// The cluster's own database `paceline`, as libpq's connection string.
  const std::string& dsn() const { return dsn_; }

  /// Makes a database and returns its connection string. A number is appended to `name`
  /// ([a-z][a-z0-9_]*, at most 40 characters), so that the same name can be asked for again.
  std::string create_database(std::string_view name);

  /// Sessions are cut, committed work stays, the port stays.
  void restart();

  /// `immediate` is as a power cut: the next start recovers from the log.
  void stop(bool immediate = false);

  /// On the port it had. Nothing happens where it runs.
  void start();

  /// The folder of the cluster; its server log is `log` in it.
  const std::string& folder() const { return folder_; }

private:
  std::string run(std::vector<std::string> arguments) const;
  std::string log_tail() const;

  std::string folder_;
  std::string dsn_;
  int databases_ = 0;
};

} // namespace paceline::test
