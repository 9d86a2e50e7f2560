/// A connection that speaks lines, and TLS from some moment on.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility> // Asio 1.74 forgets it

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

namespace paceline::simulators {

/// Used by one coroutine.
class smtp_stream {
public:
  explicit smtp_stream(boost::asio::ip::tcp::socket& socket) : socket_(socket) {}

  /// False where it fails. What came before in plain is thrown away (no command may slip in).
  boost::asio::awaitable<bool> start_tls(boost::asio::ssl::context& context);
  bool is_encrypted() const { return tls_.has_value(); }

  /// One line without its end; nothing where the other side is gone or it has over 2,048 octets.
  boost::asio::awaitable<std::optional<std::string>> read_line();
  /// Up to and without the final dot, dots undone; nothing as above, or over `limit` octets.
  boost::asio::awaitable<std::optional<std::string>> read_message(std::size_t limit);
  /// False where the other side is gone.
  boost::asio::awaitable<bool> write(std::string_view text);
  /// Reads whatever comes until the other side has enough.
  boost::asio::awaitable<void> wait_for_end();
  /// Whether more has come than what was read so far.
  bool has_more() const { return !buffer_.empty(); }

private:
  boost::asio::awaitable<bool> fill();

  boost::asio::ip::tcp::socket& socket_;
  std::optional<boost::asio::ssl::stream<boost::asio::ip::tcp::socket&>> tls_;
  std::string buffer_;
};

} // namespace paceline::simulators
