#include "test/support/fake_stores.hpp"

#include <algorithm>
#include <stdexcept>
#include <unordered_set>

#include "actors/database_post.hpp"

namespace paceline::test {
namespace {

template <class T>
shared_result<T> shared(result<T> value) {
  return std::make_shared<const result<T>>(std::move(value));
}

} // namespace

void fake_shard_store::reserve(const caf::actor_addr& reply_to, reserve_request request,
                               std::vector<content_id> known) {
  auto work = [this, request = std::move(request), known = std::move(known)] {
    reserved_rows read{table_.reserve(request, time_.database_now()), {}};
    std::unordered_set<content_id> have(known.begin(), known.end());
    for (const auto& page : read.pages)
      for (const auto& row : page.rows)
        if (have.insert(row.content).second)
          read.contents.emplace(row.content, table_.contents.at(row.content));
    return read;
  };
  reads.run<reserved_rows>(std::move(work), [reply_to](result<reserved_rows> read) {
    tell(reply_to, rows_reserved{shared(std::move(read))});
  });
}

void fake_shard_store::claim(const caf::actor_addr& reply_to, claim_request request) {
  if (throws)
    throw std::logic_error("a bug");
  claimed.push_back(request);
  auto group_no = request.group_no;
  auto work = [this, request = std::move(request)] {
    auto reply = table_.claim(request, time_.database_now());
    std::vector<attempt> rest;
    for (const auto& row : request.rows)
      if (std::ranges::none_of(reply.rows, [&row](const auto& got) { return got.of == row.of; }))
        rest.push_back(row.of);
    if (reply.still_owner)
      table_.settle(rest);
    return reply;
  };
  claims.run<claim_reply>(std::move(work), [reply_to, group_no](result<claim_reply> reply) {
    tell(reply_to, group_claimed{group_no, shared(std::move(reply))});
  });
}

void fake_shard_store::reject(std::vector<preflight_failure> failures) {
  auto work = [this, failures = std::move(failures)] {
    table_.reject(failures);
    return done{};
  };
  reads.run<done>(std::move(work), [](const result<done>&) {});
}

void fake_shard_store::postpone(std::vector<attempt> rows, std::optional<nanoseconds> wait) {
  auto work = [this, rows = std::move(rows), wait] {
    table_.postpone(rows, time_.database_now() + wait.value_or(std::chrono::seconds{15}));
    return done{};
  };
  reads.run<done>(std::move(work), [](const result<done>&) {});
}

void fake_shard_store::draw_grant(const caf::actor_addr& reply_to, std::int64_t wanted) {
  ++grants_asked;
  grants.run<std::int64_t>([this, wanted] { return table_.draw_grant(wanted); },
                           [reply_to](result<std::int64_t> granted) {
                             tell(reply_to, grant_drawn{shared(std::move(granted))});
                           });
}

void fake_shard_store::measure(const caf::actor_addr& reply_to, const start_shard& of) {
  reads.run<round_trips>(
      [this] {
        return round_trips{reads.latency, reads.latency};
      },
      [reply_to, of](result<round_trips> trips) {
        tell(reply_to, round_trips_measured{of, shared(std::move(trips))});
      });
}

void fake_record_store::record(const caf::actor_addr& reply_to, std::uint64_t batch,
                               std::shared_ptr<const std::vector<outcome>> outcomes) {
  auto index = batches.size();
  batches.push_back({time_.now(), *outcomes, false});
  const bool poisoned = is_poison && std::ranges::any_of(*outcomes, is_poison);
  auto work = [this, outcomes, index, poisoned] {
    if (poisoned)
      return record_reply{};
    batches[index].stored = true;
    return table_.record(*outcomes, time_.database_now());
  };
  connection.run<record_reply>(std::move(work),
                               [reply_to, batch, poisoned](result<record_reply> reply) {
                                 if (reply && poisoned)
                                   reply = error{error_kind::data, "a value that can't be stored"};
                                 tell(reply_to, outcomes_stored{batch, shared(std::move(reply))});
                               });
}

} // namespace paceline::test
