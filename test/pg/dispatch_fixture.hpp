/// An empty, migrated database with one route, its shards owned by one node, and the steps that
/// tests of the dispatch path share.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "storage/campaigns.hpp"
#include "storage/claims.hpp"
#include "storage/records.hpp"
#include "storage/session.hpp"

namespace paceline::test {

/// The value of `got`; throws what failed where it is an error.
template <class T>
T must(result<T> got) {
  if (!got)
    throw std::runtime_error(got.failure().text);
  return std::move(*got);
}

class dispatch_fixture {
public:
  dispatch_fixture();

  /// A further connection of our kind.
  std::unique_ptr<session> connect();
  /// The first value of a statement, as text; empty for NULL and for no row.
  std::string ask(const std::string& statement);
  /// Returns once the session waits for a lock (asked of the server, not guessed from time).
  void wait_until_blocked(session& waiting);
  /// Runs `work` on another thread and returns once it waits for a lock on `on`.
  template <class F>
  auto start_blocked(session& on, F work) {
    auto running = std::async(std::launch::async, std::move(work));
    wait_until_blocked(on);
    return running;
  }

  /// A campaign with `size` recipients r1@example.org ...; expanded unless told otherwise.
  stream_id make_campaign(int size, bool expanded = true);
  /// Up to `limit` due rows, own part of one.
  std::vector<due_message> due(stream_id stream, int limit = 1000);
  /// What a claim of `rows` by shard number `shard` asks for.
  claim_request ask_for(const std::vector<due_message>& rows, int group_no, int shard = 0);
  /// Claims all that is due (at most `limit`) in groups of 100 and returns it.
  std::vector<attempt> claim_due(stream_id stream, int group_no, int limit = 1000);
  /// "queued=1 accepted=2": what the state rows of a stream say.
  std::string states(stream_id stream);
  /// Whether the counters of every stream equal the grouped count of its state rows.
  bool counters_match();

  std::string dsn;
  statement_counts counts;
  id_source ids{7};
  std::unique_ptr<session> db; ///< the connection of the test's own thread
  route_id route;
  std::vector<shard_id> shards; ///< four
  std::vector<epoch_id> epochs;

private:
  std::unique_ptr<pqxx::connection> observer_;
};

outcome make_outcome(const attempt& of, outcome_kind kind, std::int64_t started_s = 1'000'000);
std::vector<attempt> attempts_of(const std::vector<due_message>& rows);

} // namespace paceline::test
