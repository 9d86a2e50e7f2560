#include "transport/outgoing/curl_engine.hpp"

#include <algorithm>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

#include "transport/outgoing/connection_rules.hpp"
#include "transport/outgoing/curl_lane.hpp"
#include "transport/outgoing/pending_transfer.hpp"

namespace paceline {
namespace {

constexpr std::size_t kept_handles = 4096;
constexpr std::size_t known_hosts = 1024;
constexpr long http2_connections = 8;
constexpr long least_streams = 100; // libcurl's own bound

/// libcurl counts its users itself; the first one prepares OpenSSL.
class curl_library {
public:
  curl_library() {
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
      throw std::runtime_error("libcurl can't be initialised");
  }
  ~curl_library() { curl_global_cleanup(); }
  curl_library(const curl_library&) = delete;
  curl_library& operator=(const curl_library&) = delete;
};

struct close_handle {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
using owned_handle = std::unique_ptr<CURL, close_handle>;
using owned_transfer = std::unique_ptr<pending_transfer>;

lane_limits limits_http1(const engine_options& options) {
  return {options.max_connections, least_streams};
}

/// As many streams as connections would be, spread over a few.
lane_limits limits_http2(const engine_options& options) {
  auto connections = std::min<long>(http2_connections, options.max_connections);
  auto streams = (options.max_connections + connections - 1) / connections;
  return {connections, std::max(least_streams, streams)};
}

/// What is known of `scheme://host:port`.
struct host {
  host_protocol protocol = host_protocol::unknown;
  bool has_scout = false;              ///< a transfer is finding out
  std::vector<owned_transfer> waiting; ///< for what it finds
};

} // namespace

/// Two lanes, because libcurl bounds the connections of all hosts of a multi handle alike: few for
/// HTTP/2, many for one request at a time.
class curl_engine::impl {
public:
  impl(reactor& loop, engine_options options)
      : loop_(loop), state_{std::move(options), 0}, alive_(std::make_shared<bool>(true)),
        serial_(loop, limits_http1(state_.options),
                [this](CURL* handle, CURLcode code) { finish(handle, code); }),
        shared_(loop, limits_http2(state_.options),
                [this](CURL* handle, CURLcode code) { finish(handle, code); }) {}

  ~impl() {
    alive_.reset();
    for (auto& [handle, entry] : in_lanes_)
      entry.lane->remove(handle);
  }

  std::unique_ptr<curl_transfer> prepare(const std::string& url) {
    CURL* handle = spare_.empty() ? curl_easy_init() : spare_.back().release();
    if (!spare_.empty())
      spare_.pop_back();
    return std::make_unique<pending_transfer>(handle, state_, url);
  }

  void start(owned_transfer what) {
    ++in_flight_;
    const auto& origin = what->origin();
    if (!state_.options.http2 || !origin.starts_with("https://"))
      return send(std::move(what), host_protocol::http1);
    auto& target = host_of(origin);
    if (target.protocol != host_protocol::unknown)
      send(std::move(what), target.protocol);
    else if (target.has_scout)
      target.waiting.push_back(std::move(what));
    else
      scout(std::move(what), target);
  }

  void expect(pending_transfer& what, std::function<bool()> may_write,
              std::function<void(curl_transfer&, const transfer_result&)> done) {
    what.expect(std::move(may_write), std::move(done),
                [this, origin = what.origin()](host_protocol found) { learn(origin, found); });
  }

  bool is_shared(const std::string& url) const {
    const auto known = hosts_.find(origin_of(url));
    return known != hosts_.end() && known->second.protocol == host_protocol::http2;
  }

  std::size_t in_flight() const { return in_flight_; }
  std::size_t connections() const { return state_.connections; }

private:
  struct in_lane {
    owned_transfer transfer;
    curl_lane* lane;
    bool is_scout;
  };

  /// Hosts without traffic are forgotten when there are too many.
  host& host_of(const std::string& origin) {
    if (hosts_.size() >= known_hosts && !hosts_.contains(origin))
      std::erase_if(hosts_, [](const auto& each) { return !each.second.has_scout; });
    return hosts_[origin];
  }

  void scout(owned_transfer what, host& target) {
    target.has_scout = true;
    send(std::move(what), host_protocol::http2, true);
  }

  void send(owned_transfer what, host_protocol protocol, bool is_scout = false) {
    bool http2 = protocol == host_protocol::http2;
    auto& lane = http2 ? shared_ : serial_;
    set_http_version(what->handle(), http2);
    if (http2)
      what->listen(departures_);
    CURL* handle = what->handle();
    in_lanes_.emplace(handle, in_lane{std::move(what), &lane, is_scout});
    if (!lane.add(handle))
      soon([this, handle] { finish(handle, CURLE_FAILED_INIT); });
  }

  /// From within libcurl: whoever waits is let go from the reactor.
  void learn(const std::string& origin, host_protocol found) {
    auto known = hosts_.find(origin);
    if (known == hosts_.end() || known->second.protocol == found)
      return;
    known->second.protocol = found;
    if (!known->second.waiting.empty())
      soon([this, origin] { let_go(origin); });
  }

  /// Without a connection nothing was learnt; then HTTP/1.1 is right for any server.
  void let_go(const std::string& origin) {
    auto known = hosts_.find(origin);
    if (known == hosts_.end())
      return;
    for (auto& each : std::exchange(known->second.waiting, {}))
      send(std::move(each), known->second.protocol);
  }

  void finish(CURL* handle, CURLcode code) {
    auto entry = in_lanes_.extract(handle);
    auto& [transfer, lane, is_scout] = entry.mapped();
    --in_flight_;
    if (is_scout) {
      hosts_[transfer->origin()].has_scout = false;
      let_go(transfer->origin());
    }
    transfer->end(code);
    if (CURL* released = transfer->release(code); released) {
      owned_handle kept(released);
      if (spare_.size() < kept_handles)
        spare_.push_back(std::move(kept));
    }
  }

  template <typename Task>
  void soon(Task task) {
    loop_.at(loop_.now(), [task, alive = std::weak_ptr<bool>(alive_)] {
      if (!alive.expired())
        task();
    });
  }

  curl_library library_;
  reactor& loop_;
  engine_state state_; // outlives the lanes: their last connections still count down
  std::shared_ptr<bool> alive_;
  departures departures_;
  std::unordered_map<std::string, host> hosts_;
  std::vector<owned_handle> spare_;
  std::size_t in_flight_ = 0;
  curl_lane serial_;
  curl_lane shared_;
  std::unordered_map<CURL*, in_lane> in_lanes_;
};

curl_engine::curl_engine(reactor& loop, engine_options options) {
  check_authorities(options.ca_file);
  impl_ = std::make_unique<impl>(loop, std::move(options));
}

curl_engine::~curl_engine() = default;

std::unique_ptr<curl_transfer> curl_engine::prepare(const std::string& url) {
  return impl_->prepare(url);
}

void curl_engine::start(std::unique_ptr<curl_transfer> what, std::function<bool()> may_write,
                        std::function<void(curl_transfer&, const transfer_result&)> done) {
  // All transfers are made by `prepare`.
  std::unique_ptr<pending_transfer> mine(static_cast<pending_transfer*>(what.release()));
  impl_->expect(*mine, std::move(may_write), std::move(done));
  impl_->start(std::move(mine));
}

bool curl_engine::is_shared(const std::string& url) const {
  return impl_->is_shared(url);
}

std::size_t curl_engine::in_flight() const {
  return impl_->in_flight();
}

std::size_t curl_engine::connections() const {
  return impl_->connections();
}

} // namespace paceline
