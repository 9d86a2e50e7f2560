/// The HTTP API: who asks, which route is meant, and what it answers.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "config/logging.hpp"
#include "storage/pool.hpp"
#include "transport/api/ports.hpp"
#include "transport/http/message.hpp"
#include "transport/mail/unsubscribe_link.hpp"

namespace paceline {

struct api_options {
  std::int32_t id_lane = 0; ///< of its own (see next_id_lane)
  api_instruments instruments;
  std::int32_t writer = 0;   ///< of counters, 0 to 1023
  int intake_statements = 2; ///< that store messages at once, at most; below the pool's connections
  std::size_t most_waiting_calls = 2000;            ///< requests that wait to be stored
  std::size_t most_waiting_bytes = 64u << 20;       ///< of those
  std::chrono::milliseconds database_wait{3000};    ///< for a connection
  std::chrono::milliseconds doubt_patience{10'000}; ///< for a commit whose end nobody saw
  /// What reads the links in campaign mail; null: none are configured, and theirs answer 404.
  std::shared_ptr<const unsubscribe_links> links;
};

/// Answers every request of the API's listener. Thread-safe: the listener calls it on all of its
/// threads. It blocks while the database works; each wait has a bound.
///
/// The listener is stopped before the service is destroyed. The pool, the logger and what the
/// functions use outlive the service, whose destructor waits for its work in the pool.
class api_service {
public:
  api_service(const api_options& options, database_pool& pool, wake_route_function wake,
              health_function health_now, logger& log);
  ~api_service();
  api_service(const api_service&) = delete;
  api_service& operator=(const api_service&) = delete;

  http_response answer(const http_request& request);

private:
  class impl;
  std::unique_ptr<impl> impl_;
};

/// Answers the admin listener: `GET /v1/health/live`, `GET /v1/health/ready` and `GET /metrics`.
/// Nobody is asked for a key: the listener is bound to a private address. Thread-safe if the
/// functions are.
class admin_service {
public:
  /// `metrics` makes the text format of Prometheus, version 0.0.4.
  admin_service(health_function health_now, std::function<std::string()> metrics);
  http_response answer(const http_request& request) const;

private:
  const health_function health_now_;
  const std::function<std::string()> metrics_;
};

} // namespace paceline
