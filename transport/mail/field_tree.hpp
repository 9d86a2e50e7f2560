/// A message's fields, from stored JSON to what the template engine reads.
#pragma once

#include <string_view>

#include <kainjow/mustache.hpp>

#include "storage/result.hpp"

namespace paceline {

/// Texts and numbers stay what they are, as text; true is the text `true`; false, null and the
/// empty text count as absent, so that inverted sections give defaults. Error `invalid`: not JSON,
/// not an object, not UTF-8, or nested more than 32 deep.
result<kainjow::mustache::data> read_fields(std::string_view json);

} // namespace paceline
