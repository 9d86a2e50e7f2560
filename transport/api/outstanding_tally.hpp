/// Whether a project may have more messages waiting, without asking the database each time.
///
/// The estimate is what the database last said, plus what this node has taken in since and plus
/// what it is storing right now. Messages that leave make it too high, never too low, so before a
/// refusal the database is asked again. Other nodes make it too low, for at most the second after
/// which it is asked again in any case. Pure; not thread-safe.
#pragma once

#include <cstdint>

#include "storage/model/instants.hpp"

namespace paceline {

class outstanding_tally {
public:
  static constexpr nanoseconds good_for = std::chrono::seconds{1};

  /// Adds `count` to what is being stored if at most `most` are outstanding then.
  bool reserve(std::int64_t count, std::int64_t most);
  /// What was reserved is stored, or may be.
  void settle(std::int64_t count);
  /// What was reserved is not stored.
  void release(std::int64_t count) { storing_ -= count; }

  /// Never asked, or longer than a second ago.
  bool is_old(boot_instant now) const { return !known_ || now - asked_at_ >= good_for; }
  bool is_known() const { return known_; }
  bool is_asking() const { return asking_; }
  std::int64_t storing() const { return storing_; }
  std::int64_t estimate() const { return base_ + storing_ + covered_ + settled_; }

  /// The database is about to be asked. What settles from now on may be missing in its answer.
  void begin_asking(boot_instant now);
  void end_asking(std::int64_t answer);
  void fail_asking();

private:
  std::int64_t base_ = 0;    ///< the database's last answer
  std::int64_t storing_ = 0; ///< reserved, not yet settled
  std::int64_t settled_ = 0; ///< since the last question
  std::int64_t covered_ = 0; ///< before the open question, whose answer will contain it
  bool known_ = false, asking_ = false;
  boot_instant asked_at_{};
};

} // namespace paceline
