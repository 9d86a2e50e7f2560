/// The body of a one-click unsubscribe (RFC 8058, section 3.2). Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace paceline {

/// Octets of the largest body that is looked at: a form has one pair, and few senders add any.
inline constexpr std::size_t max_one_click_body = 16u << 10;

/// Whether the form has the pair `List-Unsubscribe=One-Click`, in any case and beside whatever
/// else. It may be `multipart/form-data`; everything else, also without a type, is read as
/// `application/x-www-form-urlencoded`.
bool is_one_click(std::optional<std::string_view> content_type, std::string_view body);

} // namespace paceline
