/// One libcurl multi handle on a reactor: its sockets and its timer, and who finished.
///
/// libcurl says which sockets to watch and when to come back; the lane passes both on to the
/// reactor and reports transfers that ended. On the reactor's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>

#include <curl/curl.h>

#include "transport/providers/provider.hpp"

namespace paceline {

struct lane_limits {
  long connections_per_host = 1; ///< further transfers wait in libcurl
  long streams_per_connection = 100;
};

class curl_lane {
public:
  /// `ended` is called once for each added handle, which by then is out of the lane, and never from
  /// within `add`. `loop` outlives the lane. Throws std::runtime_error without memory.
  curl_lane(reactor& loop, lane_limits limits, std::function<void(CURL*, CURLcode)> ended);
  /// Closes all connections. Handles that are still in must have been removed. Not from `ended`.
  ~curl_lane();
  curl_lane(const curl_lane&) = delete;
  curl_lane& operator=(const curl_lane&) = delete;

  /// Not from within a callback of libcurl. False: libcurl does not take it.
  bool add(CURL* handle);
  void remove(CURL* handle);

private:
  static int on_socket(CURL*, curl_socket_t socket, int what, void* self, void*);
  static int on_timer(CURLM*, long milliseconds, void* self);
  void act(curl_socket_t socket, int events);
  void arm();
  void ring(boot_instant alarm);
  void report();

  reactor& loop_;
  std::function<void(CURL*, CURLcode)> ended_;
  CURLM* multi_;
  std::optional<boot_instant> due_;    ///< when libcurl wants to be called
  std::multiset<boot_instant> alarms_; ///< tasks that wait in the reactor; a handful
  std::shared_ptr<bool> alive_;        ///< tasks in the reactor can't be taken back
};

} // namespace paceline
