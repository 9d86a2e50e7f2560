/// The SES stand-in (docs/simulators.md) beside a bench.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/benchmarks/child_process.hpp"
#include "tools/benchmarks/stage.hpp"
#include "tools/benchmarks/start_times.hpp"

namespace paceline::bench {

struct stand_in_settings {
  double rate = 5000; ///< recipients per second
  double tolerance = 1.15;
  double latency_ms = 170;
  double jitter = 0.1;
};

/// Where a node finds it; its credentials are in the environment of this process, and so of the
/// node's.
struct ses_place {
  std::string endpoint, ca_file;
};

/// Runs until destroyed. Everything throws `std::runtime_error`. Start it from the program's first
/// thread (child_process.hpp).
class ses_stand_in {
public:
  /// Files called `name` with an ending go into `folder`, which outlives it.
  ses_stand_in(stage& with, const std::string& folder, const std::string& name,
               const stand_in_settings& settings);

  const ses_place& place() const { return place_; }
  /// POST /control.
  void control(const std::string& json) const;
  /// 0 where nothing was counted.
  std::int64_t counter(const std::string& name) const;
  /// Of the whole process since its start.
  double cpu_seconds() const;
  std::vector<started_call> ledger() const;

  static std::string access_key() { return "AKIDEXAMPLE"; }
  static std::string secret_key() { return "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"; }

private:
  std::string state() const;

  std::string files_; ///< path without its ending
  ses_place place_;
  int control_ = 0;
  child_process process_;
};

} // namespace paceline::bench
