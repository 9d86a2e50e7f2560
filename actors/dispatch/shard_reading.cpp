// The shard's way from due rows to prepared messages.

#include <algorithm>
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
  request.count = position_.count;
  for (const auto& plan : plans_) {
    auto part = plan.part == bucket_part::own ? reserve_part::own : reserve_part::others;
    request.sources.push_back({plan.stream, part, {plan.after.due_at, plan.after.id}, plan.limit});
  }
  reserve_sent_ = around_.time.now();
  around_.store.reserve(address(), std::move(request));
}

void shard_actor::on_rows(const rows_reserved& answer) {
  auto now = around_.time.now();
  if (run_)
    run_->reserve += now - reserve_sent_;
  const auto& pages = *answer.pages;
  if (!pages) {
    around_.log.warn("reading due messages failed; trying again",
                     {{"shard", shard_.name.text()}, {"error", pages.failure().text}});
    plans_.clear();
    policy_.on_reserve_failed();
    on_database_error();
    return drive();
  }
  errors_in_a_row_ = 0;
  std::vector<content_id> missing;
  read_rows_.clear();
  for (const auto& page : *pages) {
    for (const auto& row : page.rows)
      if (!preparer_.knows(row.content)
          && std::find(missing.begin(), missing.end(), row.content) == missing.end())
        missing.push_back(row.content);
    read_rows_.push_back(page.rows);
  }
  contents_awaited_ = missing.size();
  for (auto id : missing)
    around_.store.load(address(), id);
  if (missing.empty())
    prepare_pages();
}

void shard_actor::on_content(const content_loaded& answer) {
  const auto& loaded = *answer.loaded;
  if (loaded)
    preparer_.learn(*loaded);
  else if (!loaded.failure().is_retryable())
    preparer_.learn_unusable(answer.id, loaded.failure().text);
  if (contents_awaited_ > 0 && --contents_awaited_ == 0)
    prepare_pages();
}

void shard_actor::prepare_pages() {
  auto began = around_.time.now();
  std::vector<preflight_failure> failures;
  std::vector<attempt> later;
  for (std::size_t i = 0; i < plans_.size(); ++i) {
    std::vector<reserved_row> rows;
    if (i < read_rows_.size())
      for (auto& row : read_rows_[i]) {
        rows.push_back({row.of, row.stream, row.cost, row.due_at});
        if (rows_.contains(row.of.message))
          continue; // in hand already; the reservation skips it as well
        held_row held{row.stream, row.project, nullptr, std::nullopt};
        if (!preparer_.knows(row.content)) {
          later.push_back(row.of);
        } else {
          auto made = preparer_.prepare(row);
          if (auto* failure = std::get_if<preflight_failure>(&made))
            failures.push_back(std::move(*failure));
          else
            held.message = std::get<std::shared_ptr<const outgoing_message>>(made);
        }
        if (held.message)
          rows_.emplace(row.of.message, std::move(held));
      }
    drop(policy_.on_reserved(plans_[i], rows));
  }
  // The pages were passed whole, since a full page says that there may be more; now those go that
  // can't be claimed. Read again before that is stored, they fail once more: harmless.
  for (const auto& failure : failures)
    policy_.on_recorded(failure.of.message);
  for (const auto& row : later)
    policy_.on_recorded(row.message);
  plans_.clear();
  read_rows_.clear();
  if (run_) {
    run_->prepare += around_.time.now() - began;
    run_->skipped += static_cast<std::int64_t>(failures.size() + later.size());
  }
  if (!failures.empty())
    around_.store.reject(std::move(failures));
  if (!later.empty())
    around_.store.postpone(std::move(later));
  drive();
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
