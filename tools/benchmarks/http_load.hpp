/// HTTP clients that cost little: many keep-alive connections on one thread, each with one request
/// under way, so that what is measured is the server.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/benchmarks/stage.hpp"

namespace paceline::bench {

/// A whole HTTP/1.1 request. Without a body it is a GET, else a POST of JSON.
std::string request_text(std::string_view path, std::string_view token, std::string_view body = {});

struct load_settings {
  int port = 0; ///< on 127.0.0.1
  int clients = 1;
  std::chrono::milliseconds length{2000}; ///< no request begins later
  std::int64_t most_requests = INT64_MAX;
  std::chrono::milliseconds pause{0}; ///< of each client between an answer and its next request
  /// The next request; the number counts from 0 over all clients.
  std::function<std::string(std::int64_t number)> request;
  /// Of each answer, if set.
  std::function<void(std::int64_t number, int status, std::string_view body)> on_answer;
};

struct load_result {
  std::int64_t fine = 0;         ///< answers of status 2xx
  std::int64_t refused = 0;      ///< other answers
  std::int64_t broken = 0;       ///< connections that ended without an answer
  double seconds = 0;            ///< from the first request to the last answer
  std::vector<double> latencies; ///< seconds, of the fine ones
  std::string first_refusal;     ///< status and body, for messages

  double rate() const { return seconds > 0 ? static_cast<double>(fine) / seconds : 0; }
};

/// Runs to the end of the answers. Throws `std::runtime_error` where it can't connect, or where an
/// answer takes longer than 30 s.
load_result run_load(stage& with, const load_settings& settings);

} // namespace paceline::bench
