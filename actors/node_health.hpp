/// Whether this node is alive and ready, for load balancers and service managers.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include "storage/pool.hpp"
#include "transport/api/ports.hpp"
#include "transport/courier.hpp"

namespace paceline {

/// Live: the actors still take turns. Ready: the database answers within a second, and the node
/// is neither starting nor draining. Thread-safe; outlives the listeners and the actor that beats.
class node_health {
public:
  explicit node_health(const boot_time& time);

  /// Asks the database through `pool` if the last answer is older than half a second, and waits
  /// for at most a second; callers at the same time share one question.
  health look();

  void use(database_pool& pool); ///< from here on the node can be ready
  void set_draining();           ///< for good: from here on it is not
  /// An actor says once a second that actors run.
  void beat();

private:
  struct probe;
  bool database_answers();

  const boot_time& time_;
  std::mutex mutex_;
  database_pool* pool_ = nullptr;
  boot_instant beaten_{};
  bool is_draining_ = false;
  std::shared_ptr<probe> last_; ///< shared with the pool's thread, which may be slower than we
};

} // namespace paceline
