#include "tools/simulators/signature_check.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <strings.h>
#include <vector>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "tools/simulators/acceptance_ledger.hpp"

namespace paceline::simulators {
namespace {

constexpr std::string_view algorithm = "AWS4-HMAC-SHA256";
constexpr std::int64_t window_s = 300;

std::string hmac(std::string_view key, std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
  unsigned int size = 0;
  ::HMAC(::EVP_sha256(), key.data(), static_cast<int>(key.size()),
         reinterpret_cast<const unsigned char*>(text.data()), text.size(), out.data(), &size);
  return {reinterpret_cast<const char*>(out.data()), size};
}

std::string hex(std::string_view octets) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const char octet : octets) {
    const auto value = static_cast<unsigned char>(octet);
    text.push_back(digits[value >> 4U]);
    text.push_back(digits[value & 15U]);
  }
  return text;
}

std::string percent_encoded(std::string_view text, std::string_view also_kept) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const auto value = static_cast<unsigned char>(c);
    const bool is_plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (is_plain || std::string_view{"-_.~"}.find(c) != std::string_view::npos
        || also_kept.find(c) != std::string_view::npos) {
      encoded.push_back(c);
    } else {
      encoded.push_back('%');
      encoded.push_back(digits[value >> 4U]);
      encoded.push_back(digits[value & 15U]);
    }
  }
  return encoded;
}

std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      const std::string digits{text.substr(i + 1, 2)};
      decoded.push_back(static_cast<char>(std::strtol(digits.c_str(), nullptr, 16)));
      i += 2;
    } else {
      decoded.push_back(text[i]);
    }
  }
  return decoded;
}

/// Names and values encoded once, sorted by both.
std::string canonical_query(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> pairs;
  while (!query.empty()) {
    const auto one = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), one.size() + 1));
    const auto equals = std::min(one.find('='), one.size());
    const auto value = one.substr(std::min(one.size(), equals + 1));
    pairs.emplace_back(percent_encoded(percent_decoded(one.substr(0, equals)), ""),
                       percent_encoded(percent_decoded(value), ""));
  }
  std::sort(pairs.begin(), pairs.end());
  std::string text;
  for (const auto& [name, value] : pairs)
    text.append(text.empty() ? "" : "&").append(name).append("=").append(value);
  return text;
}

/// Without white space at its ends, and with one blank where there were several.
std::string collapsed(std::string_view value) {
  std::string text;
  for (const char c : value) {
    const bool is_blank = c == ' ' || c == '\t';
    if (is_blank && (text.empty() || text.back() == ' '))
      continue;
    text.push_back(is_blank ? ' ' : c);
  }
  if (!text.empty() && text.back() == ' ')
    text.pop_back();
  return text;
}

bool same_name(std::string_view one, std::string_view other) {
  return one.size() == other.size() && ::strncasecmp(one.data(), other.data(), one.size()) == 0;
}

template <class Use>
void for_each_name(std::string_view list, Use use) {
  while (!list.empty()) {
    const auto one = list.substr(0, list.find(';'));
    list.remove_prefix(std::min(list.size(), one.size() + 1));
    use(one);
  }
}

/// `20260301T100000Z` as seconds since 1970.
std::optional<std::int64_t> seconds_of(std::string_view text) {
  std::tm parts{};
  const std::string whole{text};
  const char* const end = ::strptime(whole.c_str(), "%Y%m%dT%H%M%SZ", &parts);
  if (whole.size() != 16 || end == nullptr || *end != '\0')
    return std::nullopt;
  return ::timegm(&parts);
}

std::string text_of(std::int64_t seconds) {
  const std::time_t when = seconds;
  std::tm parts{};
  ::gmtime_r(&when, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &parts)};
}

signature_fault fault(const char* type, std::string text, int status = 403) {
  return {status, type, std::move(text)};
}

std::optional<signature_fault> check_time(std::int64_t signed_at, std::int64_t now) {
  const auto ours = text_of(now), theirs = text_of(signed_at);
  if (signed_at < now - window_s)
    return fault("InvalidSignatureException",
                 "Signature expired: " + theirs + " is now earlier than " + text_of(now - window_s)
                     + " (" + ours + " - 5 min.)");
  if (signed_at > now + window_s)
    return fault("InvalidSignatureException",
                 "Signature not yet current: " + theirs + " is still later than "
                     + text_of(now + window_s) + " (" + ours + " + 5 min.)");
  return std::nullopt;
}

} // namespace

/// The parts of the Authorization header; point into it.
struct signature_check::authorization {
  std::string_view access_key, date, region, service, terminator, signed_headers, signature;

  static std::string_view part(std::string_view& text, char until) {
    const auto one = text.substr(0, text.find(until));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    return one;
  }

  static std::optional<authorization> parse(std::string_view text) {
    if (!text.starts_with(algorithm))
      return std::nullopt;
    text.remove_prefix(algorithm.size());
    authorization found;
    while (!text.empty()) {
      auto field = part(text, ',');
      field.remove_prefix(std::min(field.find_first_not_of(' '), field.size()));
      const auto name = part(field, '=');
      if (name == "Credential") {
        found.access_key = part(field, '/');
        found.date = part(field, '/');
        found.region = part(field, '/');
        found.service = part(field, '/');
        found.terminator = field;
      } else if (name == "SignedHeaders") {
        found.signed_headers = field;
      } else if (name == "Signature") {
        found.signature = field;
      }
    }
    if (found.access_key.empty() || found.signed_headers.empty() || found.signature.empty())
      return std::nullopt;
    return found;
  }

  bool signs(std::string_view header) const {
    bool found = false;
    for_each_name(signed_headers, [&found, header](std::string_view name) {
      found = found || same_name(name, header);
    });
    return found;
  }
};

std::string canonical_request(const http_request& what, std::string_view signed_headers) {
  const auto query_at = std::min(what.target.find('?'), what.target.size());
  std::string text{what.method};
  text.append("\n").append(percent_encoded(what.target.substr(0, query_at), "/"));
  text.append("\n").append(
      canonical_query(what.target.substr(std::min(what.target.size(), query_at + 1))));
  text.append("\n");
  for_each_name(signed_headers, [&text, &what](std::string_view name) {
    text.append(name).append(":");
    bool is_first = true;
    for (const auto& [known, value] : what.headers)
      if (same_name(known, name)) {
        text.append(is_first ? "" : ",").append(collapsed(value));
        is_first = false;
      }
    text.append("\n");
  });
  return text.append("\n").append(signed_headers).append("\n").append(sha256_hex(what.body));
}

const std::string& signature_check::key_for(const authorization& given) {
  auto scope =
      std::string{given.date}.append("/").append(given.region).append("/").append(given.service);
  if (scope != scope_) {
    key_ = hmac(hmac(hmac(hmac("AWS4" + account_.secret, given.date), given.region), given.service),
                "aws4_request");
    scope_ = std::move(scope);
  }
  return key_;
}

std::optional<signature_fault> signature_check::check_scope(const authorization& given,
                                                            std::string_view service,
                                                            std::string_view date) const {
  const char* const invalid = "InvalidSignatureException";
  if (given.access_key != account_.access_key)
    return fault("UnrecognizedClientException",
                 "The security token included in the request is invalid.");
  if (given.date != date.substr(0, 8))
    return fault(invalid, "Date in Credential scope does not match the date of the request.");
  if (!account_.region.empty() && given.region != account_.region)
    return fault(invalid, "Credential should be scoped to a valid region.");
  if (given.service != service)
    return fault(invalid,
                 "Credential should be scoped to correct service: '" + std::string{service} + "'.");
  if (given.terminator != "aws4_request")
    return fault(invalid, "Credential should be scoped with a valid terminator: 'aws4_request'.");
  return std::nullopt;
}

std::optional<signature_fault> signature_check::check(const http_request& what,
                                                      std::string_view service, std::int64_t now) {
  const auto header = what.header("authorization");
  if (header.empty())
    return fault("MissingAuthenticationTokenException", "Missing Authentication Token");
  const auto given = authorization::parse(header);
  const auto date = what.header("x-amz-date");
  const auto signed_at = seconds_of(date);
  if (!given || !signed_at)
    return fault("IncompleteSignatureException",
                 "Authorization header requires 'Credential', 'SignedHeaders' and 'Signature', and "
                 "an 'X-Amz-Date'.");
  if (auto wrong = check_scope(*given, service, date))
    return wrong;
  if (what.header("x-amz-security-token") != account_.session_token)
    return fault("UnrecognizedClientException",
                 "The security token included in the request is invalid.");
  if (auto wrong = check_time(*signed_at, now))
    return wrong;
  bool signs_all = given->signs("host");
  for (const auto& [name, value] : what.headers)
    if (name.size() > 6 && same_name(name.substr(0, 6), "x-amz-"))
      signs_all = signs_all && given->signs(name);
  const auto to_sign = std::string{algorithm} + "\n" + std::string{date} + "\n"
                       + std::string{given->date} + "/" + std::string{given->region} + "/"
                       + std::string{given->service} + "/aws4_request\n"
                       + sha256_hex(canonical_request(what, given->signed_headers));
  const auto expected = hex(hmac(key_for(*given), to_sign));
  if (!signs_all || expected.size() != given->signature.size()
      || ::CRYPTO_memcmp(expected.data(), given->signature.data(), expected.size()) != 0)
    return fault("InvalidSignatureException",
                 "The request signature we calculated does not match the signature you provided. "
                 "Check your AWS Secret Access Key and signing method.");
  return std::nullopt;
}

} // namespace paceline::simulators
