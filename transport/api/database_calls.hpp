/// Database work for a request's thread: handed to the pool, waited for.
///
/// Waiting for a connection has a bound; once the work runs, the statement timeout bounds it.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "storage/pool.hpp"
#include "storage/result.hpp"

namespace paceline {

/// Thread-safe. The pool outlives it.
class database_calls {
public:
  database_calls(database_pool& pool, std::chrono::milliseconds longest_wait)
      : pool_(pool), longest_wait_(longest_wait) {}

  /// Runs `work(session&)`, which returns a result<T>, on one of the pool's threads and gives its
  /// result. What failed and can succeed is tried once more, so `work` must be repeatable. It may
  /// capture what lives on the caller's stack. Error `overloaded`: no connection was free in time,
  /// nothing was done; `unavailable`: no connection could be opened.
  template <class F>
  auto run(F&& work) -> std::invoke_result_t<F, session&> {
    using answer = std::invoke_result_t<F, session&>;
    std::optional<answer> made;
    for (int attempt = 0;; ++attempt) {
      const auto failed = call([&work, &made](session& on) { made.emplace(work(on)); });
      if (failed)
        return *failed;
      if (*made || !made->failure().is_retryable() || attempt == 1)
        return std::move(*made);
    }
  }

  /// For what no thread waits for; false where the pool takes no more, and `work` is then not
  /// called. It owns what it needs, and gets nullptr where no connection could be opened.
  bool start(database_pool::work work) { return pool_.submit(std::move(work)); }

private:
  std::optional<error> call(const std::function<void(session&)>& work);

  database_pool& pool_;
  std::chrono::milliseconds longest_wait_;
};

} // namespace paceline
