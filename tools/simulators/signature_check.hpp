/// AWS Signature Version 4 from the provider's side: is this request signed as it should be?
///
/// Written apart from what signs in transport/, so that a misreading of the specification can't
/// hide on both sides. Source: AWS, "Create a signed AWS API request"; every service but S3 encodes
/// the path twice.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tools/simulators/http_service.hpp"

namespace paceline::simulators {

struct signing_account {
  std::string access_key, secret;
  std::string session_token; ///< empty: none may be given
  std::string region;        ///< empty: any
};

/// As AWS words it.
struct signature_fault {
  int status = 403;
  std::string type, text;
};

class signature_check {
public:
  explicit signature_check(signing_account account) : account_(std::move(account)) {}

  /// Nothing where the request is signed for `service` and not more than five minutes away from
  /// `now` (seconds since 1970, by the provider's clock).
  std::optional<signature_fault> check(const http_request& what, std::string_view service,
                                       std::int64_t now);

private:
  struct authorization;
  std::optional<signature_fault> check_scope(const authorization& given, std::string_view service,
                                             std::string_view date) const;
  const std::string& key_for(const authorization& given);

  signing_account account_;
  std::string scope_, key_; ///< the last one made: it changes once a day
};

/// What is hashed into the string to sign. For tests.
std::string canonical_request(const http_request& what, std::string_view signed_headers);

} // namespace paceline::simulators
