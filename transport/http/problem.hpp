/// Errors as `application/problem+json` (RFC 9457).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "transport/http/message.hpp"

namespace paceline {

/// One field that is wrong.
struct field_problem {
  std::string
      pointer; ///< RFC 6901 into the body, e.g. `/messages/3/to/0`; or `?limit`, `Header-Name`
  std::string detail; ///< what is wrong and what is allowed
};

/// `type` is a stable word (`invalid_field`, `not_found`, `rate_limited` ...), also its
/// documentation anchor; `detail` is a sentence that says what to do.
http_response problem(int status, std::string_view type, std::string_view detail,
                      const std::vector<field_problem>& fields = {});

/// Adds the request's id to a problem that doesn't end with one yet: it is what a user can give to
/// whoever reads the log. `id` has no characters that JSON would mind. Other answers stay as they
/// are.
void name_request(http_response& answer, std::string_view id);

} // namespace paceline
