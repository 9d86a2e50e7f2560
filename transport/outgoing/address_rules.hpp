/// Which addresses a connection may go to. Pure.
///
/// Checked against the socket address that is about to be connected to, after all name look-ups, so
/// that no spelling (decimal, octal, IPv4 in IPv6) and no name that answers differently the second
/// time gets past it.
#pragma once

#include <sys/socket.h>

#include <string>

namespace paceline {

/// Whether it is a global unicast address: not loopback, private (RFC 1918, RFC 4193), shared
/// (RFC 6598), link-local, multicast, documentation, benchmarking, reserved, unspecified, nor one
/// of these inside an IPv6 address (mapped, NAT64, 6to4, Teredo).
bool is_public_address(const sockaddr& address);

/// `203.0.113.7` or `2001:db8::1`, for errors.
std::string text_of(const sockaddr& address);

} // namespace paceline
