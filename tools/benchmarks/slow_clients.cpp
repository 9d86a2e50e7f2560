#include "tools/benchmarks/slow_clients.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>

namespace paceline::bench {
namespace {

constexpr std::string_view head =
    "POST /v1/send HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    "Content-Length: 100000\r\n";

struct dribbler {
  int socket = -1;
  bool in_body = false;
  std::size_t sent = 0;
};

void connect(dribbler& one, int port) {
  if (one.socket >= 0)
    ::close(one.socket);
  one.sent = 0;
  one.socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(one.socket, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
    return;
  if (one.in_body) {
    ::send(one.socket, head.data(), head.size(), MSG_NOSIGNAL);
    ::send(one.socket, "\r\n", 2, MSG_NOSIGNAL);
  }
}

/// One byte more; false where the server has had enough.
bool dribble(dribbler& one) {
  char ignored[512];
  const auto got = ::recv(one.socket, ignored, sizeof ignored, MSG_DONTWAIT);
  const bool ended = got == 0 || (got > 0 && std::string_view{ignored, 4} == "HTTP");
  const char next = one.in_body || one.sent >= head.size() ? ' ' : head[one.sent];
  ++one.sent;
  return !ended && ::send(one.socket, &next, 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

} // namespace

slow_clients::slow_clients(int port, int clients, std::chrono::milliseconds between_bytes)
    : thread_([port, clients, between_bytes](const std::stop_token& stop) {
        std::vector<dribbler> all(static_cast<std::size_t>(clients));
        for (std::size_t i = 0; i < all.size(); ++i) {
          all[i].in_body = i % 2 == 1;
          connect(all[i], port);
        }
        while (!stop.stop_requested()) {
          std::this_thread::sleep_for(between_bytes);
          for (auto& one : all)
            if (!dribble(one))
              connect(one, port);
        }
        for (auto& one : all)
          ::close(one.socket);
      }) {}

slow_clients::~slow_clients() = default;

} // namespace paceline::bench
