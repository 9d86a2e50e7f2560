/// Answers the requests of a listener: ids, the handler and what it throws, errors, access log.
#pragma once

#include <atomic>
#include <string>

#include "config/logging.hpp"
#include "transport/http/answerer.hpp"
#include "transport/http/connection.hpp"
#include "transport/http/server.hpp"

namespace paceline {

/// Thread-safe. `options` and `log` outlive it.
class request_service {
public:
  request_service(const listener_options& options, body_budget& budget, logger& log,
                  http_server::handler handle);

  /// Answers what `from` needs an answer for. Once `is_stopping`, which may happen meanwhile, the
  /// connection ends with it.
  void answer(connection& from, answerer& writer, const std::atomic<bool>& is_stopping);
  /// The answer to a connection for which there is no room.
  std::string no_room(answerer& writer);

  std::int64_t answered() const { return answered_.load(); }
  std::int64_t too_large() const { return too_large_.load(); }

private:
  /// One line of the access log.
  struct entry {
    std::string id, method, path, peer;
    int status = 0;
    double milliseconds = 0;
  };

  std::string id_for(const request_head& head);
  std::string new_id();
  http_response serve(connection& from, const std::string& id, answerer::target target);
  http_response call_handler(const http_request& request);
  void write_log(const entry& line);

  const listener_options& options_;
  body_budget& budget_;
  logger& log_;
  const http_server::handler handle_;
  const std::string id_prefix_; ///< random, so that ids of different processes differ
  std::atomic<std::uint64_t> ids_{0};
  std::atomic<std::int64_t> answered_{0}, too_large_{0};
};

} // namespace paceline
