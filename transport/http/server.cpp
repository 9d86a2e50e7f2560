#include "transport/http/server.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <mutex>
#include <optional>
#include <span>
#include <system_error>
#include <thread>
#include <utility>

#include "storage/model/instants.hpp"
#include "transport/http/answerer.hpp"
#include "transport/http/connection.hpp"
#include "transport/http/connection_table.hpp"
#include "transport/http/crew.hpp"
#include "transport/http/listening_socket.hpp"
#include "transport/http/request_service.hpp"
#include "transport/http/tls.hpp"

namespace paceline {
namespace {

using std::chrono::milliseconds;

/// Connections above `max_connections` that get their 503 at the same time; others are just closed.
constexpr std::size_t spare_connections = 64;

/// How long those being answered have when we stop.
constexpr milliseconds stop_patience{1000};

/// How long nobody is accepted when the kernel has no descriptors left.
constexpr milliseconds accept_pause{100};

/// The least time between two lines about connections refused.
constexpr std::chrono::seconds complaint_pause{10};

/// How often deadlines are looked at: late by an eighth of the shortest one at most.
milliseconds tick_of(const listener_options& options) {
  auto shortest = std::min(
      {options.header_timeout, options.body_timeout, options.write_timeout, options.idle_timeout});
  return std::clamp(shortest / 8, milliseconds{5}, milliseconds{250});
}

/// What a thread needs to get on with connections.
struct toolbox {
  static constexpr std::size_t buffer_bytes = 64u << 10;

  answerer writer;
  /// Not filled with zeros: what is never read into takes no memory.
  std::unique_ptr<char[]> bytes = std::make_unique_for_overwrite<char[]>(buffer_bytes);

  std::span<char> buffer() { return {bytes.get(), buffer_bytes}; }
};

} // namespace

/// One control thread accepts, watches deadlines and lets the crew grow; the crew serves.
class http_server::impl {
public:
  impl(listener_options options, body_budget& budget, logger& log, handler answer,
       owned_socket listening, std::unique_ptr<tls_identity> identity);
  ~impl() { stop(); }

  int port() const { return port_; }
  listener_counts counts() const;
  void stop();
  result<done> reload_tls() { return identity_ ? identity_->reload() : done{}; }

private:
  crew::job make_job();
  void attend(connection_table::key which, connection& one, toolbox& tools);
  void get_on(connection_table::key which, connection& one, toolbox& tools);

  void control();
  int wait_ms(bool is_growing) const;
  void accept_waiting();
  void admit(owned_socket socket, std::string peer);
  void turn_away(connection& one);
  void listen_for(std::uint32_t events, int how);
  void sweep();
  void expire(connection_table::key which, connection& one);
  void drain();
  void wake();

  const listener_options options_;
  body_budget& budget_;
  logger& log_;
  const milliseconds tick_;
  owned_socket listening_;
  const int port_;
  const std::unique_ptr<tls_identity> identity_;
  owned_socket control_epoll_, wake_;
  std::atomic<bool> stopping_{false};
  std::atomic<std::int64_t> refused_{0}, timed_out_{0};

  request_service service_;
  crew crew_;
  connection_table table_;
  toolbox control_tools_;
  std::optional<boot_instant> accepts_again_; ///< while the kernel has no descriptors
  boot_instant next_sweep_{}, next_complaint_{};
  std::mutex stop_mutex_;
  std::thread control_thread_;
};

http_server::impl::impl(listener_options options, body_budget& budget, logger& log, handler answer,
                        owned_socket listening, std::unique_ptr<tls_identity> identity)
    : options_(std::move(options)), budget_(budget), log_(log), tick_(tick_of(options_)),
      listening_(std::move(listening)), port_(port_of(listening_)), identity_(std::move(identity)),
      control_epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      service_(options_, budget_, log_, std::move(answer)),
      crew_(
          "http-" + options_.name, options_.threads, options_.thread_idle,
          [this] { return make_job(); }, [this] { wake(); }),
      table_(static_cast<std::size_t>(options_.max_connections) + spare_connections,
             crew_.epoll()) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = wake_.number();
  if (::epoll_ctl(control_epoll_.number(), EPOLL_CTL_ADD, wake_.number(), &event) != 0)
    throw std::system_error(errno, std::generic_category(), "epoll");
  listen_for(EPOLLIN, EPOLL_CTL_ADD);
  control_thread_ = start_quiet_thread("http-control", [this] { control(); });
}

listener_counts http_server::impl::counts() const {
  listener_counts counts;
  counts.connections = static_cast<std::int64_t>(table_.size());
  counts.busy_threads = crew_.busy();
  counts.requests = service_.answered();
  counts.too_large = service_.too_large();
  counts.refused_connections = refused_.load();
  counts.timed_out = timed_out_.load();
  return counts;
}

crew::job http_server::impl::make_job() {
  return [this, tools = std::make_shared<toolbox>()](connection_table::key which) {
    if (auto* one = table_.claim(which))
      attend(which, *one, *tools);
  };
}

void http_server::impl::attend(connection_table::key which, connection& one, toolbox& tools) {
  try {
    get_on(which, one, tools);
  } catch (const std::exception& thrown) {
    // No memory, most likely. This connection ends, the others go on.
    log_.event(log_level::error, "HTTP_CONNECTION_FAILED",
               {{"listener", options_.name}, {"error", thrown.what()}});
    table_.release(which);
  }
}

void http_server::impl::get_on(connection_table::key which, connection& one, toolbox& tools) {
  for (;;) {
    switch (one.proceed(boot_clock::now(), tools.buffer())) {
    case connection::need::reading:
      return table_.park(which, EPOLLIN);
    case connection::need::writing:
      return table_.park(which, EPOLLOUT);
    case connection::need::closing:
      return table_.release(which);
    case connection::need::answer:
      crew_.may_block();
      service_.answer(one, tools.writer, stopping_);
    }
  }
}

void http_server::impl::control() {
  bool is_growing = false;
  while (!stopping_.load()) {
    std::array<epoll_event, 2> events;
    int count = ::epoll_wait(control_epoll_.number(), events.data(),
                             static_cast<int>(events.size()), wait_ms(is_growing));
    bool was_woken = false;
    for (int i = 0; i < count; ++i) {
      if (events[static_cast<std::size_t>(i)].data.fd == listening_.number()) {
        accept_waiting();
        continue;
      }
      std::uint64_t ignored = 0;
      was_woken = ::read(wake_.number(), &ignored, sizeof ignored) > 0;
    }
    if (accepts_again_ && boot_clock::now() >= *accepts_again_) {
      accepts_again_.reset();
      listen_for(EPOLLIN, EPOLL_CTL_MOD);
    }
    if (was_woken || is_growing)
      is_growing = crew_.grow();
    sweep();
  }
  drain();
}

int http_server::impl::wait_ms(bool is_growing) const {
  if (is_growing)
    return 1;
  if (accepts_again_)
    return static_cast<int>(std::min(accept_pause, tick_).count());
  return table_.size() > 0 ? static_cast<int>(tick_.count()) : -1;
}

void http_server::impl::listen_for(std::uint32_t events, int how) {
  epoll_event event{};
  event.events = events;
  event.data.fd = listening_.number();
  if (::epoll_ctl(control_epoll_.number(), how, listening_.number(), &event) != 0)
    throw std::system_error(errno, std::generic_category(), "epoll");
}

void http_server::impl::accept_waiting() {
  constexpr int most_in_a_row = 64;
  for (int i = 0; i < most_in_a_row; ++i) {
    std::string peer;
    auto socket = accept_from(listening_, peer);
    if (socket.number() >= 0) {
      admit(std::move(socket), std::move(peer));
      continue;
    }
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      log_.event(log_level::warn, "HTTP_ACCEPT_PAUSED",
                 {{"listener", options_.name}, {"error", std::generic_category().message(errno)}});
      accepts_again_ = boot_clock::now() + accept_pause;
      listen_for(0, EPOLL_CTL_MOD);
    }
    return;
  }
}

void http_server::impl::admit(owned_socket socket, std::string peer) {
  bool has_room = table_.size() < static_cast<std::size_t>(options_.max_connections);
  if (!has_room) {
    refused_.fetch_add(1);
    if (boot_clock::now() >= next_complaint_) {
      next_complaint_ = boot_clock::now() + complaint_pause;
      log_.event(log_level::warn, "HTTP_CONNECTIONS_REFUSED",
                 {{"listener", options_.name}, {"refused", refused_.load()}});
    }
    if (identity_)
      return; // An answer would cost a handshake.
  }
  try {
    auto peer_channel =
        identity_ ? identity_->accept(std::move(socket)) : plain_channel(std::move(socket));
    if (!peer_channel)
      return;
    auto made = std::make_unique<connection>(std::move(peer_channel), std::move(peer), options_,
                                             budget_, boot_clock::now());
    if (!has_room)
      turn_away(*made);
    table_.add(std::move(made));
  } catch (const std::exception& thrown) {
    log_.event(log_level::error, "HTTP_CONNECTION_FAILED",
               {{"listener", options_.name}, {"error", thrown.what()}});
  }
}

void http_server::impl::turn_away(connection& one) {
  auto now = boot_clock::now();
  one.send(service_.no_room(control_tools_.writer), true, now);
  // A new socket takes these few bytes at once. Then it waits for the client to go, a second long.
  one.proceed(now, control_tools_.buffer());
}

void http_server::impl::sweep() {
  auto now = boot_clock::now();
  if (now < next_sweep_)
    return;
  next_sweep_ = now + tick_;
  table_.claim_where([now](const connection& each) { return each.deadline() <= now; },
                     [this](connection_table::key which, connection& one) { expire(which, one); });
}

void http_server::impl::expire(connection_table::key which, connection& one) {
  if (one.is_busy())
    timed_out_.fetch_add(1);
  if (one.expire() == connection::need::closing)
    table_.release(which);
  else
    attend(which, one, control_tools_);
}

void http_server::impl::drain() {
  listening_.reset();
  auto release = [this](connection_table::key which, connection&) { table_.release(which); };
  auto end = boot_clock::now() + stop_patience;
  while (table_.size() > 0 && boot_clock::now() < end) {
    table_.claim_where([](const connection& each) { return !each.is_finishing(); }, release);
    constexpr int look_ms = 10;
    std::array<epoll_event, 1> events;
    ::epoll_wait(control_epoll_.number(), events.data(), 1, look_ms);
    std::uint64_t ignored = 0;
    [[maybe_unused]] auto count = ::read(wake_.number(), &ignored, sizeof ignored);
  }
  table_.cut_claimed();
  crew_.stop();
  table_.claim_where([](const connection&) { return true; }, release);
}

void http_server::impl::wake() {
  std::uint64_t one = 1;
  [[maybe_unused]] auto written = ::write(wake_.number(), &one, sizeof one);
}

void http_server::impl::stop() {
  std::lock_guard lock(stop_mutex_);
  if (!control_thread_.joinable())
    return;
  stopping_.store(true);
  wake();
  control_thread_.join();
}

result<std::unique_ptr<http_server>> http_server::start(listener_options options,
                                                        body_budget& budget, logger& log,
                                                        handler answer) {
  if (options.tls_certificate.empty() != options.tls_key.empty())
    return error{error_kind::refused,
                 "listener " + options.name + " needs both, a TLS certificate and its key"};
  std::unique_ptr<tls_identity> identity;
  if (!options.tls_certificate.empty()) {
    auto loaded = tls_identity::load(options.tls_certificate, options.tls_key);
    if (!loaded)
      return loaded.failure();
    identity = std::move(*loaded);
  }
  auto listening = listen_on(options.address);
  if (!listening)
    return listening.failure();
  try {
    return std::unique_ptr<http_server>(
        new http_server(std::make_unique<impl>(std::move(options), budget, log, std::move(answer),
                                               std::move(*listening), std::move(identity))));
  } catch (const std::exception& thrown) {
    return error{error_kind::refused, std::string("can't start a listener: ") + thrown.what()};
  }
}

http_server::http_server(std::unique_ptr<impl> made) : impl_(std::move(made)) {}

http_server::~http_server() = default;

int http_server::port() const {
  return impl_->port();
}

listener_counts http_server::counts() const {
  return impl_->counts();
}

void http_server::stop() {
  impl_->stop();
}

result<done> http_server::reload_tls() {
  return impl_->reload_tls();
}

} // namespace paceline
