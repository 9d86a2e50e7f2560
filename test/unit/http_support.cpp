#include "test/unit/http_support.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace paceline::http_test {
namespace {

constexpr timeval patience{30, 0};

} // namespace

std::string answer::header(const std::string& name) const {
  auto at = head.find("\r\n" + name + ": ");
  if (at == std::string::npos)
    return {};
  at += name.size() + 4;
  return head.substr(at, head.find("\r\n", at) - at);
}

raw_client::raw_client(int port, int receive_buffer)
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  if (receive_buffer > 0)
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  int on = 1;
  ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  if (::connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0)
    throw std::runtime_error(std::string("connect: ") + std::strerror(errno));
}

raw_client::raw_client(raw_client&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)), input_(std::move(other.input_)) {}

raw_client::~raw_client() {
  if (socket_ >= 0)
    ::close(socket_);
}

bool raw_client::send(std::string_view bytes) {
  while (!bytes.empty()) {
    auto count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0)
      return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

bool raw_client::read_some() {
  std::array<char, 65536> bytes;
  auto count = ::recv(socket_, bytes.data(), bytes.size(), 0);
  if (count > 0)
    input_.append(bytes.data(), static_cast<std::size_t>(count));
  return count > 0;
}

answer raw_client::read(bool has_body) {
  std::size_t end = 0;
  while ((end = input_.find("\r\n\r\n")) == std::string::npos)
    if (!read_some())
      return {};
  answer got;
  got.head = input_.substr(0, end + 2);
  input_.erase(0, end + 4);
  got.status = std::stoi(got.head.substr(got.head.find(' ')));
  auto length = got.header("Content-Length");
  std::size_t size = has_body && !length.empty() ? std::stoul(length) : 0;
  while (input_.size() < size)
    if (!read_some())
      return {};
  got.body = input_.substr(0, size);
  input_.erase(0, size);
  return got;
}

answer raw_client::ask(std::string_view request) {
  send(request);
  return read();
}

bool raw_client::sees_end() {
  while (read_some()) {
  }
  // The patience of the socket shows as EAGAIN; a reset is an end as well.
  return errno != EAGAIN;
}

void raw_client::end_writing() {
  ::shutdown(socket_, SHUT_WR);
}

std::string get(const std::string& path, const std::string& headers) {
  return "GET " + path + " HTTP/1.1\r\nHost: test\r\n" + headers + "\r\n";
}

std::string post(const std::string& body, const std::string& headers) {
  return "POST /posted HTTP/1.1\r\nHost: test\r\nContent-Length: " + std::to_string(body.size())
         + "\r\n" + headers + "\r\n" + body;
}

http_response describe(const http_request& request) {
  return {200,
          "text/plain",
          request.method + " " + request.path + " " + std::to_string(request.body.size()),
          {}};
}

served::served(const std::function<void(listener_options&)>& change, http_server::handler handler,
               std::int64_t budget_bytes)
    : budget(budget_bytes) {
  listener_options options;
  options.name = "api";
  options.address = "127.0.0.1:0";
  options.threads = 4;
  if (change)
    change(options);
  auto started = http_server::start(options, budget, log.log, std::move(handler));
  BOOST_REQUIRE_MESSAGE(started, (started ? "" : started.failure().text));
  server = std::move(*started);
}

} // namespace paceline::http_test
