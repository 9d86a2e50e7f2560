/// Database work for a request's thread: handed to the pool, waited for.
///
/// Waiting for a connection has a bound; once the work runs, the statement timeout bounds it.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <semaphore>
#include <utility>

#include "storage/pool.hpp"
#include "storage/result.hpp"

namespace paceline {

/// Thread-safe. The pool outlives it.
class database_calls {
public:
  database_calls(database_pool& pool, std::chrono::milliseconds longest_wait);

  /// Runs `work(session&)`, which returns a result<T>, on one of the pool's threads and gives its
  /// result. What failed and can succeed is tried once more, so `work` must be repeatable. It may
  /// capture what lives on the caller's stack. Error `overloaded`: no connection was free in time,
  /// nothing was done; `unavailable`: no connection could be opened; `internal`: `work` has thrown.
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

  /// As run(), for work that may wait long for a row that somebody holds: it never has all
  /// connections at once (where there are two), so that sending goes on beside it.
  template <class F>
  auto run_slow(F&& work) -> std::invoke_result_t<F, session&> {
    const slow_place mine{*this};
    if (!mine.is_taken)
      return error{error_kind::overloaded,
                   "Too many changes wait for a row in the database. Try again in a moment."};
    return run(std::forward<F>(work));
  }

  /// For what no thread waits for; false where the pool takes no more, and `work` is then not
  /// called. It owns what it needs, and gets nullptr where no connection could be opened.
  bool start(database_pool::work work) { return pool_.submit(std::move(work)); }

private:
  /// Waited for as long as a connection is.
  struct slow_place {
    explicit slow_place(database_calls& of_calls)
        : of(of_calls), is_taken(of.slow_places_.try_acquire_for(of.longest_wait_)) {}
    ~slow_place() {
      if (is_taken)
        of.slow_places_.release();
    }
    slow_place(const slow_place&) = delete;
    slow_place& operator=(const slow_place&) = delete;
    database_calls& of;
    const bool is_taken;
  };
  std::optional<error> call(const std::function<void(session&)>& work);

  database_pool& pool_;
  std::chrono::milliseconds longest_wait_;
  std::counting_semaphore<> slow_places_;
};

} // namespace paceline
