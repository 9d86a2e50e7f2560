#include "tools/simulators/http_server.hpp"

#include <chrono>
#include <cstdio>
#include <exception>
#include <optional>
#include <unordered_map>
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>

#include "tools/simulators/tls_context.hpp"

namespace paceline::simulators {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using steady_clock = std::chrono::steady_clock;
using parser_type = http::request_parser<http::string_body>;
using tls_stream = asio::ssl::stream<tcp::socket&>;

constexpr std::size_t most_connections = 20'000;
/// SES takes messages of 40 MB, which base64 makes a third longer.
constexpr std::uint64_t longest_body = 60 << 20;
constexpr std::uint32_t longest_head = 64 << 10;
constexpr std::chrono::minutes longest_idle{5};
constexpr std::chrono::seconds sweep_interval{10};

std::string_view view_of(boost::beast::string_view text) {
  return {text.data(), text.size()};
}

/// What the parser has read, as the services see it. Points into `from`.
http_request request_of(parser_type& from, bool is_reused) {
  auto& message = from.get();
  http_request request;
  request.method = view_of(message.method_string());
  request.target = view_of(message.target());
  for (const auto& field : message)
    request.headers.emplace_back(view_of(field.name_string()), view_of(field.value()));
  request.body = std::move(message.body());
  request.is_reused = is_reused;
  return request;
}

} // namespace

class http_server::impl : public std::enable_shared_from_this<impl> {
public:
  impl(asio::io_context& loop, http_service& service, const std::string& address,
       std::uint16_t port, const certificates* identity)
      : loop_(loop), service_(service), acceptor_(loop), sweep_(loop) {
    if (identity != nullptr)
      tls_.emplace(make_tls_context(*identity));
    const tcp::endpoint place(asio::ip::make_address(address), port);
    acceptor_.open(place.protocol());
    acceptor_.set_option(tcp::acceptor::reuse_address(true));
    acceptor_.bind(place);
    acceptor_.listen(4096);
  }

  void start() {
    spawn(accept());
    spawn(sweep());
  }
  void stop() {
    acceptor_.close();
    sweep_.cancel();
    for (auto& [socket, last] : open_)
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

  asio::awaitable<void> accept();
  asio::awaitable<void> sweep();
  asio::awaitable<void> serve(tcp::socket socket);
  template <class Stream>
  asio::awaitable<void> converse(Stream& stream, tcp::socket& socket);
  template <class Stream>
  asio::awaitable<bool> read(Stream& stream, boost::beast::flat_buffer& buffer,
                             parser_type& parser);
  template <class Stream>
  asio::awaitable<bool> write(Stream& stream, const http_answer& answer);
  template <class Stream>
  asio::awaitable<void> write_without_end(Stream& stream);
  asio::awaitable<void> reset_once_readable(tcp::socket& socket);

  asio::io_context& loop_;
  http_service& service_;
  tcp::acceptor acceptor_;
  asio::steady_timer sweep_;
  std::optional<asio::ssl::context> tls_;
  std::unordered_map<tcp::socket*, steady_clock::time_point>
      open_; ///< and when it last did a thing
};

asio::awaitable<void> http_server::impl::accept() {
  while (acceptor_.is_open()) {
    error_code error;
    auto token = asio::redirect_error(asio::use_awaitable, error);
    tcp::socket socket = co_await acceptor_.async_accept(token);
    if (!error && open_.size() < most_connections)
      spawn(serve(std::move(socket)));
  }
}

/// Nobody holds a connection for ever: not even one that says nothing.
asio::awaitable<void> http_server::impl::sweep() {
  while (acceptor_.is_open()) {
    sweep_.expires_after(sweep_interval);
    error_code error;
    co_await sweep_.async_wait(asio::redirect_error(asio::use_awaitable, error));
    const auto oldest = steady_clock::now() - longest_idle;
    for (auto& [socket, last] : open_)
      if (last < oldest)
        socket->close(error);
  }
}

asio::awaitable<void> http_server::impl::serve(tcp::socket socket) {
  error_code error;
  socket.set_option(tcp::no_delay(true), error);
  open_[&socket] = steady_clock::now();
  const auto delay = service_.connected();
  if (!tls_) {
    co_await converse(socket, socket);
  } else {
    asio::steady_timer round_trips(loop_, delay);
    if (delay.count() > 0)
      co_await round_trips.async_wait(asio::redirect_error(asio::use_awaitable, error));
    tls_stream stream(socket, *tls_);
    co_await stream.async_handshake(asio::ssl::stream_base::server,
                                    asio::redirect_error(asio::use_awaitable, error));
    if (!error)
      co_await converse(stream, socket);
  }
  open_.erase(&socket);
}

template <class Stream>
asio::awaitable<bool> http_server::impl::read(Stream& stream, boost::beast::flat_buffer& buffer,
                                              parser_type& parser) {
  parser.body_limit(longest_body);
  parser.header_limit(longest_head);
  error_code error;
  co_await http::async_read_header(stream, buffer, parser,
                                   asio::redirect_error(asio::use_awaitable, error));
  if (error)
    co_return false;
  if (parser.get()[http::field::expect] == "100-continue") {
    static constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    co_await asio::async_write(stream, asio::buffer(go_on),
                               asio::redirect_error(asio::use_awaitable, error));
  }
  if (!error && !parser.is_done())
    co_await http::async_read(stream, buffer, parser,
                              asio::redirect_error(asio::use_awaitable, error));
  co_return !error;
}

template <class Stream>
asio::awaitable<void> http_server::impl::converse(Stream& stream, tcp::socket& socket) {
  boost::beast::flat_buffer buffer;
  asio::steady_timer timer(loop_);
  error_code error;
  for (bool is_reused = false;; is_reused = true) {
    if (service_.resets_unread(is_reused)) {
      co_await reset_once_readable(socket);
      co_return;
    }
    parser_type parser;
    if (!co_await read(stream, buffer, parser))
      co_return;
    const auto begin = open_[&socket] = steady_clock::now();
    auto request = request_of(parser, is_reused);
    const auto answer = service_.answer(request);
    if (answer.delay.count() > 0) {
      timer.expires_at(begin + answer.delay);
      co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, error));
    }
    if (!co_await write(stream, answer) || !parser.keep_alive())
      break;
  }
  // A client that reads slowly must still get all of it: no reset.
  socket.shutdown(tcp::socket::shutdown_send, error);
}

/// False where the connection is over.
template <class Stream>
asio::awaitable<bool> http_server::impl::write(Stream& stream, const http_answer& answer) {
  error_code error;
  if (answer.how == ending::close)
    co_return false;
  if (answer.how == ending::silence) {
    char ignored[1024];
    while (!error)
      co_await stream.async_read_some(asio::buffer(ignored),
                                      asio::redirect_error(asio::use_awaitable, error));
    co_return false;
  }
  const auto text = wire_text(answer);
  co_await asio::async_write(stream, asio::buffer(text),
                             asio::redirect_error(asio::use_awaitable, error));
  if (!error && answer.how == ending::endless)
    co_await write_without_end(stream);
  co_return !error && answer.how == ending::keep;
}

template <class Stream>
asio::awaitable<void> http_server::impl::write_without_end(Stream& stream) {
  const std::string chunk = "4000\r\n" + std::string(0x4000, ' ') + "\r\n";
  for (error_code error; !error;)
    co_await asio::async_write(stream, asio::buffer(chunk),
                               asio::redirect_error(asio::use_awaitable, error));
}

asio::awaitable<void> http_server::impl::reset_once_readable(tcp::socket& socket) {
  error_code error;
  co_await socket.async_wait(tcp::socket::wait_read,
                             asio::redirect_error(asio::use_awaitable, error));
  socket.set_option(asio::socket_base::linger(true, 0), error);
  socket.close(error);
}

http_server::http_server(asio::io_context& loop, http_service& service, const std::string& address,
                         std::uint16_t port, const certificates* identity)
    : impl_(std::make_shared<impl>(loop, service, address, port, identity)) {
  impl_->start();
}

http_server::~http_server() {
  impl_->stop();
}

std::uint16_t http_server::port() const {
  return impl_->port();
}

std::size_t http_server::connections() const {
  return impl_->connections();
}

} // namespace paceline::simulators
