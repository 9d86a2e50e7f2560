/// The little of XML that answers of AWS's query APIs need: elements by their name, and their text.
/// Pure. No attributes, no comments, no CDATA: none of these answers has them where it is asked.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace paceline {

/// What stands between `<name>` and the next `</name>`, for each such element, at most 1,000.
/// Elements of a name must not be nested in their like.
std::vector<std::string_view> xml_elements(std::string_view xml, std::string_view name);

/// The text of the first such element with its entities replaced; empty if there is none.
std::string xml_text(std::string_view xml, std::string_view name);

} // namespace paceline
