/// Members that several bodies have. Pure.
#pragma once

#include <optional>
#include <string>

#include "transport/api/json_fields.hpp"

namespace paceline {

/// `region`: the second half of a route's name.
std::optional<std::string> read_region(object_fields& from);

/// `tags`: an object of at most 10 names [A-Za-z0-9_-]{1,64} and texts of at most 256 octets, as
/// compact JSON.
std::optional<std::string> read_tags(object_fields& from);

/// `fields`: an object of at most 64 KiB as written, to fill the templates in with.
std::optional<json_value> read_fields_object(object_fields& from);

} // namespace paceline
