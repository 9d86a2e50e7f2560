#include "transport/mail/international_domain.hpp"

#include <algorithm>
#include <memory>

#include <idn2.h>

#include "config/text.hpp"
#include "transport/http/ascii.hpp"

namespace paceline {
namespace {

/// Longer than any domain that encodes to the 253 octets of the DNS: 63 code points a label.
constexpr std::size_t max_unicode = 1024;

} // namespace

bool needs_idna(std::string_view domain) {
  if (std::any_of(domain.begin(), domain.end(), [](char c) { return (c & 0x80) != 0; }))
    return true;
  for (std::size_t at = 0; at < domain.size(); ++at) {
    if (is_same_ascii(domain.substr(at, 4), "xn--"))
      return true;
    at = std::min(domain.find('.', at), domain.size());
  }
  return false;
}

std::optional<std::string> ascii_domain(std::string_view domain) {
  if (domain.size() > max_unicode || domain.find('\0') != std::string_view::npos
      || first_invalid_utf8(domain))
    return std::nullopt;
  // Without IDN2_USE_STD3_ASCII_RULES: with it, libidn2 drops an underscore and finds another
  // domain. Whoever calls checks the letters of what comes out.
  const std::string text{domain};
  std::uint8_t* found = nullptr;
  const auto status = idn2_lookup_u8(reinterpret_cast<const std::uint8_t*>(text.c_str()), &found,
                                     IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL);
  const std::unique_ptr<std::uint8_t, void (*)(void*)> owned{found, idn2_free};
  if (status != IDN2_OK || !found)
    return std::nullopt;
  return ascii_lower(std::string_view{reinterpret_cast<const char*>(found)});
}

} // namespace paceline
