/// The control endpoint: plain HTTP on loopback, through which tests and benches change the rate
/// and switch faults on while calls run.
///
/// `POST /control` with some of: rate, tolerance, daily_quota, latency_ms, jitter, connect_ms,
/// hang_ms, fault (a name of behaviour.hpp), share (0 to 1), for (send, account, all), reused_only;
/// and texts of the stand-in's own. An error names the field and changes nothing. `GET /control`
/// shows what is set, and counters.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "tools/simulators/http_service.hpp"
#include "tools/simulators/simulation.hpp"

namespace paceline::simulators {

/// Texts that a stand-in lets be set beside what all have.
class adjustable {
public:
  virtual ~adjustable() = default;
  /// Empty where it was set (or could be, without `really`), else what is wrong.
  virtual std::string set(std::string_view name, std::string_view value, bool really) = 0;
};

class control_service final : public http_service {
public:
  /// `own` may be null; all outlive the service. `connections` counts the open ones.
  control_service(simulation& what, adjustable* own, std::function<std::size_t()> connections)
      : what_(what), own_(own), connections_(std::move(connections)) {}

  bool resets_unread(bool) override { return false; }
  http_answer answer(http_request& what) override;

private:
  std::string change(const std::string& body);
  std::string state_json() const;

  simulation& what_;
  adjustable* own_;
  std::function<std::size_t()> connections_;
};

} // namespace paceline::simulators
