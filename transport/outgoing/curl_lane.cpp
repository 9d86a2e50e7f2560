#include "transport/outgoing/curl_lane.hpp"

#include <sys/epoll.h>

#include <stdexcept>
#include <utility>

namespace paceline {
namespace {

/// Errors and ends wake whichever direction libcurl waits for; it then meets them itself.
int events_for_curl(std::uint32_t events) {
  constexpr std::uint32_t ends = EPOLLERR | EPOLLHUP;
  return (events & (EPOLLIN | ends) ? CURL_CSELECT_IN : 0)
         | (events & (EPOLLOUT | ends) ? CURL_CSELECT_OUT : 0);
}

} // namespace

curl_lane::curl_lane(reactor& loop, lane_limits limits, std::function<void(CURL*, CURLcode)> ended)
    : loop_(loop), ended_(std::move(ended)), multi_(curl_multi_init()),
      alive_(std::make_shared<bool>(true)) {
  if (!multi_)
    throw std::runtime_error("libcurl: no memory for a multi handle");
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &curl_lane::on_socket);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &curl_lane::on_timer);
  curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_MAX_HOST_CONNECTIONS, limits.connections_per_host);
  curl_multi_setopt(multi_, CURLMOPT_MAX_CONCURRENT_STREAMS, limits.streams_per_connection);
  // By default the cache shrinks with the transfers in flight, and a lull would close connections.
  constexpr long hosts_at_full_width = 2;
  curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS,
                    limits.connections_per_host * hosts_at_full_width);
}

curl_lane::~curl_lane() {
  alive_.reset();
  curl_multi_cleanup(multi_); // says goodbye to connections, so callbacks still come
}

bool curl_lane::add(CURL* handle) {
  return curl_multi_add_handle(multi_, handle) == CURLM_OK;
}

void curl_lane::remove(CURL* handle) {
  curl_multi_remove_handle(multi_, handle);
}

int curl_lane::on_socket(CURL*, curl_socket_t socket, int what, void* self, void*) {
  auto& lane = *static_cast<curl_lane*>(self);
  if (what == CURL_POLL_REMOVE) {
    lane.loop_.watch(socket, 0, {});
    return 0;
  }
  std::uint32_t events = (what & CURL_POLL_IN ? static_cast<std::uint32_t>(EPOLLIN) : 0)
                         | (what & CURL_POLL_OUT ? static_cast<std::uint32_t>(EPOLLOUT) : 0);
  lane.loop_.watch(socket, events, [&lane, socket](std::uint32_t ready) {
    lane.act(socket, events_for_curl(ready));
  });
  return 0;
}

int curl_lane::on_timer(CURLM*, long milliseconds, void* self) {
  auto& lane = *static_cast<curl_lane*>(self);
  if (milliseconds < 0)
    lane.due_.reset();
  else
    lane.due_ = lane.loop_.now() + std::chrono::milliseconds{milliseconds};
  lane.arm();
  return 0;
}

/// libcurl moves its timer with every transfer. An alarm that comes too early costs less than one
/// task in the reactor for each move: an alarm at or before the wanted instant is enough.
void curl_lane::arm() {
  if (!due_ || (!alarms_.empty() && *alarms_.begin() <= *due_))
    return;
  alarms_.insert(*due_);
  loop_.at(*due_, [this, when = *due_, alive = std::weak_ptr<bool>(alive_)] {
    if (!alive.expired())
      ring(when);
  });
}

void curl_lane::ring(boot_instant alarm) {
  alarms_.erase(alarms_.find(alarm));
  if (due_ && *due_ <= loop_.now()) {
    due_.reset();
    act(CURL_SOCKET_TIMEOUT, 0);
  }
  arm();
}

void curl_lane::act(curl_socket_t socket, int events) {
  int running = 0;
  curl_multi_socket_action(multi_, socket, events, &running);
  report();
}

void curl_lane::report() {
  int left = 0;
  while (CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE)
      continue;
    CURL* handle = message->easy_handle;
    CURLcode code = message->data.result; // the message goes with the handle
    curl_multi_remove_handle(multi_, handle);
    ended_(handle, code);
  }
}

} // namespace paceline
