/// The body of `POST /v1/preview`, read and checked. Pure.
#pragma once

#include "transport/api/content_request.hpp"
#include "transport/api/json_document.hpp"
#include "transport/api/preview.hpp"
#include "transport/api/problem_list.hpp"

namespace paceline {

struct preview_request {
  content_reading content;
  preview_message message; ///< its date is still to be given
};
/// A content, `fields`, and optionally `to`, `cc` and `bcc`. Meaningful only where no problem was
/// added.
preview_request read_preview(json_value body, problem_list& problems);

} // namespace paceline
