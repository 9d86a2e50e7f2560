#include "transport/outgoing/address_rules.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>

namespace paceline {
namespace {

using octets = std::span<const std::uint8_t>;

/// Addresses that begin with the first `bits` bits of `start`.
struct range {
  std::array<std::uint8_t, 16> start;
  unsigned bits;
};

bool contains(const range& within, octets address) {
  auto whole = within.bits / 8;
  auto rest = within.bits % 8;
  if (!std::equal(address.begin(), address.begin() + whole, within.start.begin()))
    return false;
  return rest == 0 || (address[whole] ^ within.start[whole]) >> (8 - rest) == 0;
}

template <std::size_t Count>
bool is_in(const std::array<range, Count>& ranges, octets address) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [address](const range& each) { return contains(each, address); });
}

/// IANA's special-purpose registry for IPv4 (RFC 6890), multicast and the reserved rest.
constexpr std::array special_v4{
    range{{0}, 8},             // this network; 0.0.0.0 reaches the machine itself
    range{{10}, 8},            // private
    range{{100, 64}, 10},      // shared by carriers (RFC 6598)
    range{{127}, 8},           // loopback
    range{{169, 254}, 16},     // link-local: metadata services of clouds
    range{{172, 16}, 12},      // private
    range{{192, 0, 0}, 24},    // protocol assignments
    range{{192, 0, 2}, 24},    // documentation
    range{{192, 31, 196}, 24}, // AS112
    range{{192, 52, 193}, 24}, // AMT
    range{{192, 88, 99}, 24},  // 6to4 relays, withdrawn
    range{{192, 168}, 16},     // private
    range{{192, 175, 48}, 24}, // AS112
    range{{198, 18}, 15},      // benchmarking
    range{{198, 51, 100}, 24}, // documentation
    range{{203, 0, 113}, 24},  // documentation
    range{{224}, 4},           // multicast
    range{{240}, 4},           // reserved, and broadcast
};

/// What of 2000::/3 is not for hosts of the Internet (RFC 6890 and later).
constexpr std::array special_v6{
    range{{0x20, 0x01, 0x00}, 23},             // protocol assignments; Teredo is looked into
    range{{0x20, 0x01, 0x0d, 0xb8}, 32},       // documentation
    range{{0x26, 0x20, 0x00, 0x4f, 0x80}, 48}, // AS112
    range{{0x3f, 0xff, 0x00}, 20},             // documentation (RFC 9637)
};

constexpr range global_v6{{0x20}, 3};
constexpr range six_to_four{{0x20, 0x02}, 16};
constexpr range teredo{{0x20, 0x01, 0x00, 0x00}, 32};
constexpr range nat64{{0x00, 0x64, 0xff, 0x9b}, 96};
constexpr range mapped{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96};

bool is_public_v4(octets address) {
  return !is_in(special_v4, address);
}

/// Teredo (RFC 4380 section 4) names its server in clear and the client with all bits turned.
bool is_public_teredo(octets address) {
  std::array<std::uint8_t, 4> client{};
  std::transform(address.begin() + 12, address.end(), client.begin(),
                 [](std::uint8_t octet) { return static_cast<std::uint8_t>(~octet); });
  return is_public_v4(address.subspan(4, 4)) && is_public_v4(client);
}

bool is_public_v6(octets address) {
  if (contains(mapped, address) || contains(nat64, address))
    return is_public_v4(address.subspan(12, 4));
  if (contains(six_to_four, address))
    return is_public_v4(address.subspan(2, 4));
  if (contains(teredo, address))
    return is_public_teredo(address);
  return contains(global_v6, address) && !is_in(special_v6, address);
}

} // namespace

bool is_public_address(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    sockaddr_in four{};
    std::memcpy(&four, &address, sizeof four);
    std::array<std::uint8_t, 4> bytes{};
    std::memcpy(bytes.data(), &four.sin_addr, bytes.size());
    return is_public_v4(bytes);
  }
  if (address.sa_family == AF_INET6) {
    sockaddr_in6 six{};
    std::memcpy(&six, &address, sizeof six);
    return is_public_v6(six.sin6_addr.s6_addr);
  }
  return false;
}

std::string text_of(const sockaddr& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* bytes = nullptr;
  if (address.sa_family == AF_INET)
    bytes = &reinterpret_cast<const sockaddr_in&>(address).sin_addr;
  else if (address.sa_family == AF_INET6)
    bytes = &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  if (!bytes || !::inet_ntop(address.sa_family, bytes, text.data(), text.size()))
    return "an address of family " + std::to_string(address.sa_family);
  return text.data();
}

} // namespace paceline
