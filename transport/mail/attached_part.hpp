/// One attachment as a part of a message, by GMime. Internal to `mime_frame`.
#pragma once

#include <string>

#include "storage/contents.hpp"
#include "storage/result.hpp"

namespace paceline {

/// Its head and base64, without the line break at the end. `name` names it in errors.
result<std::string> make_attached_part(const attachment& what, const std::string& name,
                                       bool is_inline);

} // namespace paceline
