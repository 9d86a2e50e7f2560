#include "tools/simulators/smtp_stream.hpp"

#include <array>

#include <boost/asio/buffer.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

namespace paceline::simulators {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

constexpr std::size_t longest_line = 2048;
constexpr std::string_view final_dot = "\r\n.\r\n";

/// A dot that begins a line was doubled on its way (RFC 5321, section 4.5.2).
std::string without_doubled_dots(std::string text) {
  if (text.starts_with(".."))
    text.erase(0, 1);
  for (auto at = text.find("\r\n.."); at != std::string::npos; at = text.find("\r\n..", at + 3))
    text.erase(at + 2, 1);
  return text;
}

} // namespace

asio::awaitable<bool> smtp_stream::start_tls(asio::ssl::context& context) {
  buffer_.clear();
  tls_.emplace(socket_, context);
  error_code error;
  co_await tls_->async_handshake(asio::ssl::stream_base::server,
                                 asio::redirect_error(asio::use_awaitable, error));
  co_return !error;
}

asio::awaitable<bool> smtp_stream::fill() {
  std::array<char, 16384> piece;
  error_code error;
  auto token = asio::redirect_error(asio::use_awaitable, error);
  std::size_t size = 0;
  if (tls_)
    size = co_await tls_->async_read_some(asio::buffer(piece), token);
  else
    size = co_await socket_.async_read_some(asio::buffer(piece), token);
  buffer_.append(piece.data(), size);
  co_return !error;
}

asio::awaitable<std::optional<std::string>> smtp_stream::read_line() {
  auto end = buffer_.find('\n');
  while (end == std::string::npos) {
    if (buffer_.size() > longest_line || !co_await fill())
      co_return std::nullopt;
    end = buffer_.find('\n');
  }
  auto line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  if (line.ends_with('\r'))
    line.pop_back();
  co_return line;
}

asio::awaitable<std::optional<std::string>> smtp_stream::read_message(std::size_t limit) {
  std::size_t seen = 0;
  while (true) {
    // An empty message is the dot alone.
    if (buffer_.starts_with(".\r\n")) {
      buffer_.erase(0, 3);
      co_return std::string{};
    }
    const auto end = buffer_.find(final_dot, seen);
    if (end != std::string::npos) {
      auto text = buffer_.substr(0, end + 2);
      buffer_.erase(0, end + final_dot.size());
      co_return without_doubled_dots(std::move(text));
    }
    seen = buffer_.size() > final_dot.size() ? buffer_.size() - final_dot.size() : 0;
    if (buffer_.size() > limit || !co_await fill())
      co_return std::nullopt;
  }
}

asio::awaitable<bool> smtp_stream::write(std::string_view text) {
  error_code error;
  auto token = asio::redirect_error(asio::use_awaitable, error);
  const auto from = asio::buffer(text.data(), text.size());
  if (tls_)
    co_await asio::async_write(*tls_, from, token);
  else
    co_await asio::async_write(socket_, from, token);
  co_return !error;
}

asio::awaitable<void> smtp_stream::wait_for_end() {
  while (co_await fill())
    buffer_.clear();
}

} // namespace paceline::simulators
