/// Shard and record store over a `fake_table`, with latency in virtual time and faults on demand.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "actors/answers.hpp"
#include "actors/dispatch/shard_ports.hpp"
#include "actors/recorder.hpp"
#include "test/support/fake_table.hpp"
#include "test/support/virtual_time.hpp"

namespace paceline::test {

/// What happens to one statement.
enum class database_fault {
  none,
  unavailable,     ///< it was never sent
  in_doubt_before, ///< the connection broke before it was done
  in_doubt_after,  ///< the connection broke, but it was done
};

/// One connection: statements one after the other, each `latency` long, done in its middle.
class fake_connection {
public:
  fake_connection(virtual_time& time, nanoseconds latency) : latency(latency), time_(time) {}

  nanoseconds latency;
  std::deque<database_fault> faults; ///< of the next statements
  bool away = false;                 ///< every statement is `unavailable`
  std::uint64_t statements = 0;

  /// Calls `work() -> T` in the middle and `answer(result<T>)` at the end, on the virtual time.
  template <class T>
  void run(std::function<T()> work, std::function<void(result<T>)> answer);

private:
  virtual_time& time_;
  boot_instant free_at_{};
};

/// Stands in for pool_shard_store. The fakes outlive the actors, but tasks on the timetable may
/// outlive nothing: the test owns all of them together.
class fake_shard_store final : public shard_store {
public:
  fake_shard_store(virtual_time& time, fake_table& table, const record_backlog& backlog,
                   nanoseconds latency)
      : claims(time, latency), reads(time, latency), grants(time, latency), time_(time),
        table_(table), backlog_(backlog) {}

  void reserve(const caf::actor_addr& reply_to, reserve_request request,
               std::vector<content_id> known) override;
  void claim(const caf::actor_addr& reply_to, claim_request request) override;
  void reject(std::vector<preflight_failure> failures) override;
  void postpone(std::vector<attempt> rows, std::optional<nanoseconds> wait) override;
  void draw_grant(const caf::actor_addr& reply_to, std::int64_t wanted) override;
  void measure(const caf::actor_addr& reply_to, const start_shard& of) override;
  std::uint64_t statements() const override {
    return claims.statements + reads.statements + grants.statements;
  }
  bool is_recording_behind() const override { return backlog_.is_behind(); }

  fake_connection claims;             ///< claims only, so that their faults are theirs
  fake_connection reads;              ///< all else
  fake_connection grants;             ///< of the daily quota
  std::vector<claim_request> claimed; ///< what was asked for, in order
  std::int64_t grants_asked = 0;
  bool throws = false; ///< claims throw, as a bug would, in the middle of the actor's work

private:
  virtual_time& time_;
  fake_table& table_;
  const record_backlog& backlog_;
};

class fake_record_store final : public record_store {
public:
  fake_record_store(virtual_time& time, fake_table& table, nanoseconds latency)
      : connection(time, latency), time_(time), table_(table) {}

  void record(const caf::actor_addr& reply_to, std::uint64_t batch,
              std::shared_ptr<const std::vector<outcome>> outcomes) override;

  fake_connection connection;
  /// An outcome for which this holds can't be stored: the whole batch fails with `data`.
  std::function<bool(const outcome&)> is_poison;
  struct written {
    boot_instant at{};
    std::vector<outcome> outcomes;
    bool stored = false;
  };
  std::vector<written> batches; ///< every try

private:
  virtual_time& time_;
  fake_table& table_;
};

template <class T>
void fake_connection::run(std::function<T()> work, std::function<void(result<T>)> answer) {
  ++statements;
  auto fault = away ? database_fault::unavailable : database_fault::none;
  if (!away && !faults.empty()) {
    fault = faults.front();
    faults.pop_front();
  }
  auto begin = std::max(time_.now(), free_at_);
  free_at_ = begin + latency;
  time_.at(begin + latency / 2, [this, fault, work = std::move(work), answer = std::move(answer),
                                 end = free_at_] {
    const bool is_done = fault == database_fault::none || fault == database_fault::in_doubt_after;
    std::optional<T> value;
    if (is_done)
      value = work();
    time_.at(end, [fault, answer, value = std::move(value)] {
      if (fault == database_fault::none)
        answer(*value);
      else if (fault == database_fault::unavailable)
        answer(error{error_kind::unavailable, "the database is away"});
      else
        answer(error{error_kind::in_doubt, "the connection broke"});
    });
  });
}

} // namespace paceline::test
