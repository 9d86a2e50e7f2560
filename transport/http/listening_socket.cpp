#include "transport/http/listening_socket.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

namespace paceline {
namespace {

/// Connections that the kernel completes while we accept: a burst of a whole cluster's clients.
constexpr int backlog = 1024;

error refused(const std::string& address, const std::string& why) {
  return {error_kind::refused, "can't listen on " + address + ": " + why};
}

std::string system_text() {
  return std::generic_category().message(errno);
}

std::optional<std::pair<std::string, std::string>> host_and_port(const std::string& address) {
  auto colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == address.size())
    return {};
  auto host = address.substr(0, colon);
  if (host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  else if (host.find(':') != std::string::npos)
    return {};
  return std::pair{host, address.substr(colon + 1)};
}

bool switch_on(int socket, int level, int option) {
  int on = 1;
  return ::setsockopt(socket, level, option, &on, sizeof on) == 0;
}

} // namespace

result<owned_socket> listen_on(const std::string& address) {
  auto parts = host_and_port(address);
  if (!parts)
    return refused(address, "write HOST:PORT or [IPV6]:PORT");
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* first = nullptr;
  int failed = ::getaddrinfo(parts->first.c_str(), parts->second.c_str(), &hints, &first);
  if (failed != 0)
    return refused(address, ::gai_strerror(failed));
  std::unique_ptr<addrinfo, void (*)(addrinfo*)> found(first, &::freeaddrinfo);
  owned_socket made(
      ::socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, found->ai_protocol));
  if (made.number() < 0 || !switch_on(made.number(), SOL_SOCKET, SO_REUSEADDR))
    return refused(address, system_text());
  if (::bind(made.number(), found->ai_addr, found->ai_addrlen) != 0
      || ::listen(made.number(), backlog) != 0)
    return refused(address, errno == EADDRINUSE ? "another process listens there" : system_text());
  return made;
}

int port_of(const owned_socket& listening) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  ::getsockname(listening.number(), reinterpret_cast<sockaddr*>(&bound), &size);
  if (bound.ss_family == AF_INET6)
    return ntohs(reinterpret_cast<sockaddr_in6*>(&bound)->sin6_port);
  return ntohs(reinterpret_cast<sockaddr_in*>(&bound)->sin_port);
}

owned_socket accept_from(const owned_socket& listening, std::string& peer) {
  sockaddr_storage from{};
  socklen_t size = sizeof from;
  owned_socket made(::accept4(listening.number(), reinterpret_cast<sockaddr*>(&from), &size,
                              SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (made.number() < 0)
    return made;
  switch_on(made.number(), IPPROTO_TCP, TCP_NODELAY);
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* bytes = &reinterpret_cast<sockaddr_in*>(&from)->sin_addr;
  if (from.ss_family == AF_INET6)
    bytes = &reinterpret_cast<sockaddr_in6*>(&from)->sin6_addr;
  ::inet_ntop(from.ss_family, bytes, text.data(), text.size());
  peer = text.data();
  return made;
}

} // namespace paceline
