// The shard's way from due rows to prepared messages.

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "actors/database_post.hpp"
#include "actors/dispatch/shard.hpp"

namespace paceline {

void shard_actor::plan_reading(database_instant now) {
  if (!may_claim() || !plans_.empty())
    return;
  plans_ = policy_.plan_reserve(now, target_now());
  if (plans_.empty())
    return;
  reserve_request request;
  request.index = position_.index;
  request.other =
      (position_.index + 1 + part_turn_ % std::max(position_.count - 1, 1)) % position_.count;
  request.count = position_.count;
  for (const auto& plan : plans_) {
    auto part = plan.part == bucket_part::own ? reserve_part::own : reserve_part::other;
    request.sources.push_back({plan.stream, part, {plan.after.due_at, plan.after.id}, plan.limit});
  }
  reserve_sent_ = around_.time.now();
  around_.store.reserve(address(), std::move(request), preparer_.fresh(around_.time.now()));
}

void shard_actor::on_rows(const rows_reserved& answer) {
  if (run_)
    run_->reserve += around_.time.now() - reserve_sent_;
  const auto& read = *answer.read;
  if (read) {
    errors_in_a_row_ = 0;
    prepare_pages(*read);
  } else {
    around_.log.warn("reading due messages failed; trying again",
                     {{"shard", shard_.name.text()}, {"error", read.failure().text}});
    policy_.on_reserve_failed();
    on_database_error();
  }
  plans_.clear();
  drive();
}

/// True if the row's content is compiled now: it was, or it came with this read. (A read may bring
/// more contents than the preparer keeps, so each is learnt when its first row needs it; `learnt`
/// says which were, so that one read teaches each of them once.)
bool shard_actor::learn_content(const due_message& row, const reserved_rows& read,
                                std::unordered_set<content_id>& learnt) {
  const auto found = read.contents.find(row.content);
  if (found == read.contents.end()
      || (preparer_.knows(row.content) && learnt.contains(row.content)))
    return preparer_.knows(row.content);
  const auto now = around_.time.now();
  const auto& loaded = found->second;
  if (loaded)
    preparer_.learn(*loaded, now);
  else if (!loaded.failure().is_retryable())
    preparer_.learn_unusable(row.content, loaded.failure().text, now);
  else
    return false; // what is known is too old to go on with
  learnt.insert(row.content);
  return true;
}

/// One row of a page: composed and held, or noted for what becomes of it instead.
void shard_actor::prepare_row(const due_message& row, const reserved_rows& read,
                              std::unordered_set<content_id>& learnt, unprepared& others) {
  largest_cost_ = std::max<std::int32_t>(largest_cost_, row.cost);
  if (rows_.contains(row.of.message))
    return; // in hand already; the reservation skips it as well
  if (!learn_content(row, read, learnt)) {
    // Not readable just now: due again later. Pushed out by others since it was asked for: the
    // row is read again, with its content.
    if (read.contents.contains(row.content))
      others.later.push_back(row.of);
    else
      others.again.push_back(row.of);
    return;
  }
  const auto now = database_now();
  auto made = preparer_.prepare(row, of_campaigns_.contains(row.stream), now);
  if (auto* failure = std::get_if<preflight_failure>(&made)) {
    others.failures.push_back(std::move(*failure));
    return;
  }
  auto message = std::get<std::shared_ptr<const outgoing_message>>(std::move(made));
  const auto wait = uploads_.wait_for(row.of.message, message->raw_size(), now);
  if (wait > nanoseconds{0}) {
    others.put_off.emplace_back(row.of, wait);
    return;
  }
  rows_.emplace(row.of.message,
                held_row{row.stream, row.project, row.key, std::move(message), row.alone});
}

void shard_actor::prepare_pages(const reserved_rows& read) {
  auto began = around_.time.now();
  unprepared others;
  std::unordered_set<content_id> learnt;
  if (rows_.empty())
    largest_cost_ = 1;
  for (std::size_t i = 0; i < plans_.size(); ++i) {
    std::vector<reserved_row> rows;
    if (plans_[i].part == bucket_part::other && read.pages.at(i).exhausted)
      ++part_turn_; // nothing more there: another shard's part the next time
    // A stream that went while it was read: the policy takes nothing of it, so nothing is kept.
    if (std::binary_search(streams_.begin(), streams_.end(), plans_[i].stream))
      for (const auto& row : read.pages.at(i).rows) {
        rows.push_back({row.of, row.stream, row.cost, row.due_at, row.alone});
        prepare_row(row, read, learnt, others);
      }
    drop(policy_.on_reserved(plans_[i], rows));
  }
  settle_unprepared(std::move(others));
  if (run_)
    run_->prepare += around_.time.now() - began;
}

/// The pages were passed whole, since a full page says that there may be more; now those go that
/// can't be claimed. Read again before that is stored, they fail once more: harmless.
void shard_actor::settle_unprepared(unprepared others) {
  for (const auto& failure : others.failures)
    policy_.on_recorded(failure.of.message);
  for (const auto& rows : {others.later, others.again})
    for (const auto& row : rows)
      policy_.on_recorded(row.message);
  for (const auto& [row, wait] : others.put_off) {
    policy_.on_recorded(row.message);
    around_.store.postpone({row}, wait);
  }
  const auto skipped = others.failures.size() + others.later.size() + others.put_off.size();
  around_.measured.skipped_in_prepare.add(static_cast<double>(skipped));
  if (run_)
    run_->skipped += static_cast<std::int64_t>(skipped);
  if (!others.failures.empty())
    around_.store.reject(std::move(others.failures));
  if (!others.later.empty())
    around_.store.postpone(std::move(others.later), std::nullopt);
}

void shard_actor::drop(const std::vector<attempt>& rows) {
  for (const auto& row : rows)
    rows_.erase(row.message);
}

void shard_actor::on_database_error() {
  // 100 ms doubling to 5 s: the database comes back within seconds, or it is away for longer.
  auto wait = std::chrono::milliseconds{100} * (1 << std::min(errors_in_a_row_, 6));
  ++errors_in_a_row_;
  quiet_until_ = around_.time.now() + std::min<nanoseconds>(wait, std::chrono::seconds{5});
}

} // namespace paceline
