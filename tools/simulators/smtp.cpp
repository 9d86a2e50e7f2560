#include "tools/simulators/smtp.hpp"

#include <chrono>
#include <cstdio>
#include <exception>
#include <strings.h>
#include <set>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "tools/simulators/smtp_session.hpp"
#include "tools/simulators/tls_context.hpp"

namespace paceline::simulators {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t most_connections = 2000;
/// RFC 5321, section 4.5.3.2.7: a server waits at least five minutes for a command.
constexpr std::chrono::minutes longest_connection{30};

/// The value of a header field in a message's head, unfolded no further than its first line.
std::string_view field_of(std::string_view raw, std::string_view name) {
  while (!raw.empty() && !raw.starts_with("\r\n")) {
    const auto line = raw.substr(0, raw.find("\r\n"));
    if (line.size() > name.size() && line[name.size()] == ':'
        && ::strncasecmp(line.data(), name.data(), name.size()) == 0) {
      auto value = line.substr(name.size() + 1);
      value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
      return value;
    }
    raw.remove_prefix(std::min(raw.size(), line.size() + 2));
  }
  return {};
}

} // namespace

message_tags tags_of_mail(const std::string& raw) {
  message_tags tags;
  if (const auto message = field_of(raw, "X-Paceline-Message"); !message.empty()) {
    tags.take("paceline-message", message);
    tags.take("paceline-version", field_of(raw, "X-Paceline-Version"));
    return tags;
  }
  auto id = field_of(raw, "Message-ID");
  if (!id.starts_with('<'))
    return tags;
  id.remove_prefix(1);
  const auto end = id.find_first_not_of("0123456789");
  if (end == std::string_view::npos || end == 0)
    return tags;
  tags.take("paceline-message", id.substr(0, end));
  id.remove_prefix(end);
  if (id.starts_with('.') || id.starts_with('-')) {
    id.remove_prefix(1);
    const auto digits = std::min(id.find_first_not_of("0123456789"), id.size());
    tags.take("paceline-version", id.substr(0, digits));
  }
  return tags;
}

class smtp_server::impl : public std::enable_shared_from_this<impl> {
public:
  impl(asio::io_context& loop, simulation& with, const smtp_options& options,
       const std::string& address, std::uint16_t port, const certificates& identity)
      : loop_(loop), with_(with), options_(options), acceptor_(loop),
        tls_(make_tls_context(identity)) {
    const tcp::endpoint place(asio::ip::make_address(address), port);
    acceptor_.open(place.protocol());
    acceptor_.set_option(tcp::acceptor::reuse_address(true));
    acceptor_.bind(place);
    acceptor_.listen(1024);
  }

  void start() { spawn(accept()); }
  void stop() {
    acceptor_.close();
    for (auto* const socket : open_)
      socket->close();
  }
  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  std::size_t connections() const { return open_.size(); }

private:
  /// The impl lives until the coroutine has ended.
  void spawn(asio::awaitable<void> what) {
    asio::co_spawn(loop_, std::move(what), [self = shared_from_this()](std::exception_ptr failure) {
      try {
        if (failure)
          std::rethrow_exception(failure);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "simulators: %s\n", error.what());
      }
    });
  }

  asio::awaitable<void> accept() {
    while (acceptor_.is_open()) {
      error_code error;
      auto token = asio::redirect_error(asio::use_awaitable, error);
      tcp::socket socket = co_await acceptor_.async_accept(token);
      if (!error && open_.size() < most_connections)
        spawn(serve(std::move(socket)));
    }
  }

  asio::awaitable<void> serve(tcp::socket socket) {
    error_code error;
    socket.set_option(tcp::no_delay(true), error);
    open_.insert(&socket);
    const auto delay = with_.take_connection();
    asio::steady_timer round_trips(loop_, delay);
    if (delay.count() > 0)
      co_await round_trips.async_wait(asio::redirect_error(asio::use_awaitable, error));
    asio::steady_timer limit(loop_, longest_connection);
    limit.async_wait([&socket](const error_code& canceled) {
      error_code ignored;
      if (!canceled)
        socket.close(ignored);
    });
    smtp_session session(socket, with_, options_, tls_);
    co_await session.run();
    open_.erase(&socket);
  }

  asio::io_context& loop_;
  simulation& with_;
  smtp_options options_;
  tcp::acceptor acceptor_;
  asio::ssl::context tls_;
  std::set<tcp::socket*> open_;
};

smtp_server::smtp_server(asio::io_context& loop, simulation& with, const smtp_options& options,
                         const std::string& address, std::uint16_t port,
                         const certificates& identity)
    : impl_(std::make_shared<impl>(loop, with, options, address, port, identity)) {
  impl_->start();
}

smtp_server::~smtp_server() {
  impl_->stop();
}

std::uint16_t smtp_server::port() const {
  return impl_->port();
}

std::size_t smtp_server::connections() const {
  return impl_->connections();
}

} // namespace paceline::simulators
