/// Attachments in a request, and the rules that hold for them wherever they come from. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/contents.hpp"
#include "transport/api/json_fields.hpp"

namespace paceline {

inline constexpr std::size_t max_attachments = 50;
inline constexpr std::size_t max_attached_octets = 40u << 20; ///< all of a content's together

/// What is wrong with a file's name: 1 to 255 octets of UTF-8 without slashes and control
/// characters, and neither `.` nor `..`. Nothing if it is fine; so are those below.
std::optional<std::string> attachment_name_problem(std::string_view name);
/// `type/subtype` (RFC 6838, section 4.2) without parameters; no multipart and no message, which
/// must not be encoded (RFC 2045, section 6.4).
std::optional<std::string> media_type_problem(std::string_view type);
/// 1 to 200 printable ASCII characters, no blank, angle bracket or quote (RFC 2392).
std::optional<std::string> content_id_problem(std::string_view id);

/// Reads `attachments`, an array of objects: name, media_type, content in base64, and content_id
/// for what the HTML shows as `cid:...`. Media types come out in lower case.
std::vector<attachment> read_attachments(object_fields& from);

} // namespace paceline
