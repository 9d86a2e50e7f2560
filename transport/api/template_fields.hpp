/// Which fields a content's templates use, and which of them a message does not have. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "storage/contents.hpp"

namespace paceline {

/// Names as the templates spell them, each once, in the order subject, headers, text, HTML.
struct template_fields {
  std::vector<std::string> used;
  /// Of those, what the message needs and neither it nor a used default has. A section's own name
  /// is no need, and what stands in a section that does not appear is none either.
  std::vector<std::string> missing;
};

/// `fields` is a message's JSON object. As for the templates, null, false and an empty text count
/// as absent. Nothing of a part that does not compile.
template_fields find_template_fields(const content& what, std::string_view fields);

} // namespace paceline
