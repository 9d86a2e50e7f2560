#include "actors/database_stores.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "actors/database_post.hpp"
#include "actors/answers.hpp"
#include "actors/messages.hpp"
#include "storage/quota.hpp"

namespace paceline {
namespace {

// A shard has at most one reserve, one claim and one grant out, and a few small ones beside them.
constexpr std::size_t queue_bound = 256;

/// What a claim asked for and did not get, once it is known that this owner was heard.
std::vector<attempt> not_claimed(const claim_request& asked, const claim_reply& reply) {
  std::unordered_set<message_id> got;
  for (const auto& row : reply.rows)
    got.insert(row.of.message);
  std::vector<attempt> rest;
  for (const auto& row : asked.rows)
    if (!got.contains(row.of.message))
      rest.push_back(row.of);
  return rest;
}

/// Due rows, and what they need that the shard does not have yet.
result<reserved_rows> read_ahead(session& db, const reserve_request& request,
                                 const std::vector<content_id>& known) {
  auto pages = reserve_due(db, request);
  if (!pages)
    return pages.failure();
  reserved_rows read{std::move(*pages), {}};
  std::unordered_set<content_id> have(known.begin(), known.end());
  std::vector<content_id> missing;
  for (const auto& page : read.pages)
    for (const auto& row : page.rows)
      if (have.insert(row.content).second)
        missing.push_back(row.content);
  if (!missing.empty())
    read.contents = load_contents(db, missing);
  return read;
}

/// Nobody waits for these statements, and what they leave undone is found again; but an operator
/// should see why rows come back. One line per failed statement: claims and reads fail beside them
/// and slow the shard down.
void warn_unless_done(logger* log, std::string_view what, const result<std::int64_t>& got) {
  if (!got && log)
    log->warn(std::string{what}.append(" failed; they are found again"),
              {{"error", got.failure().text}});
}

} // namespace

pool_shard_store::pool_shard_store(options how, route_id route, const record_backlog& backlog)
    : how_(std::move(how)), route_(route), backlog_(backlog),
      pool_(how_.connection, how_.connections, queue_bound, counts_) {}

void pool_shard_store::reserve(const caf::actor_addr& reply_to, reserve_request request,
                               std::vector<content_id> known) {
  post(
      pool_, reply_to,
      [request = std::move(request), known = std::move(known)](session& db) {
        return read_ahead(db, request, known);
      },
      [](shared_result<reserved_rows> value) { return rows_reserved{std::move(value)}; });
}

void pool_shard_store::claim(const caf::actor_addr& reply_to, claim_request request) {
  auto group_no = request.group_no;
  auto shared = std::make_shared<const claim_request>(std::move(request));
  auto task = [reply_to, group_no, shared, writer = how_.writer, log = how_.log](session* db,
                                                                                 const error& why) {
    auto reply = std::make_shared<const result<claim_reply>>(db ? claim_group(*db, *shared)
                                                                : result<claim_reply>{why});
    tell(reply_to, group_claimed{group_no, reply});
    if (!*reply || !(*reply)->still_owner)
      return;
    // Suppressed, expired and canceled rows get their end state; an error here only means that the
    // next claim finds them again.
    if (auto rest = not_claimed(*shared, **reply); !rest.empty())
      warn_unless_done(log, "settling messages that were not claimed",
                       settle_skipped(*db, rest, writer));
  };
  if (!pool_.submit(std::move(task)))
    tell(reply_to, group_claimed{group_no, std::make_shared<const result<claim_reply>>(
                                               error{error_kind::overloaded,
                                                     "the shard's database queue is full"})});
}

void pool_shard_store::reject(std::vector<preflight_failure> failures) {
  static_cast<void>(pool_.submit([failures = std::move(failures), writer = how_.writer,
                                  log = how_.log](session* db, const error& why) {
    warn_unless_done(log, "rejecting messages that can't be prepared",
                     db ? reject_unsent(*db, failures, writer) : why);
  }));
}

void pool_shard_store::postpone(std::vector<attempt> rows, std::optional<nanoseconds> wait) {
  static_cast<void>(
      pool_.submit([rows = std::move(rows), delay = wait.value_or(how_.preflight_retry),
                    log = how_.log](session* db, const error& why) {
        warn_unless_done(log, "postponing messages that can't be prepared now",
                         db ? paceline::postpone(*db, rows, delay) : why);
      }));
}

void pool_shard_store::draw_grant(const caf::actor_addr& reply_to, std::int64_t wanted) {
  post(
      pool_, reply_to,
      [route = route_, wanted](session& db) { return paceline::draw_grant(db, route, wanted); },
      [](shared_result<std::int64_t> value) { return grant_drawn{std::move(value)}; });
}

void pool_shard_store::measure(const caf::actor_addr& reply_to, const start_shard& of) {
  post(
      pool_, reply_to, [](session& db) { return measure_round_trips(db); },
      [of](shared_result<round_trips> value) {
        return round_trips_measured{of, std::move(value)};
      });
}

shard_store& pool_store_directory::store_of(const shard_row& shard, route_id route) {
  std::lock_guard lock(mutex_);
  auto& store = stores_[shard.shard];
  if (!store)
    store = std::make_unique<pool_shard_store>(by_route_.at(route), route, backlog_);
  if (stopped_)
    store->stop();
  return *store;
}

void pool_store_directory::stop() {
  std::lock_guard lock(mutex_);
  stopped_ = true;
  for (auto& [shard, store] : stores_)
    store->stop();
}

void pool_store_directory::visit(const std::function<void(const pool_shard_store&)>& look) const {
  std::lock_guard lock(mutex_);
  for (const auto& [shard, store] : stores_)
    look(*store);
}

void pool_record_store::record(const caf::actor_addr& reply_to, std::uint64_t batch,
                               std::shared_ptr<const std::vector<outcome>> outcomes) {
  post(
      pool_, reply_to,
      [outcomes = std::move(outcomes), backoff = backoff_, writer = writer_](session& db) {
        return record_outcomes(db, *outcomes, backoff, writer);
      },
      [batch](shared_result<record_reply> value) {
        return outcomes_stored{batch, std::move(value)};
      });
}

} // namespace paceline
