/// Domain names outside ASCII, as the DNS has them (IDNA 2008 with the non-transitional mapping of
/// UTS 46, so that `faß.de` is its own domain). Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace paceline {

/// Whether `domain` must pass `ascii_domain`: it holds a character outside ASCII, or a label that
/// claims to be the encoded form of one.
bool needs_idna(std::string_view domain);

/// The domain in lower-case ASCII (`xn--` labels), or nothing if IDNA does not allow it. Lengths,
/// dots and ASCII characters are for the caller to check.
std::optional<std::string> ascii_domain(std::string_view domain);

} // namespace paceline
