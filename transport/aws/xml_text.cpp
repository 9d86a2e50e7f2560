#include "transport/aws/xml_text.hpp"

#include <array>
#include <utility>

namespace paceline {
namespace {

constexpr std::size_t most_elements = 1000;

std::string unescaped(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, char>, 5> entities{
      {{"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}, {"&amp;", '&'}}};
  std::string made;
  for (std::size_t at = 0; at < text.size();) {
    bool is_entity = false;
    for (const auto& [spelled, meant] : entities)
      if (!is_entity && text.substr(at).starts_with(spelled)) {
        made += meant;
        at += spelled.size();
        is_entity = true;
      }
    if (!is_entity)
      made += text[at++];
  }
  return made;
}

} // namespace

std::vector<std::string_view> xml_elements(std::string_view xml, std::string_view name) {
  const auto open = "<" + std::string{name} + ">", close = "</" + std::string{name} + ">";
  std::vector<std::string_view> found;
  for (auto at = xml.find(open); at != std::string_view::npos && found.size() < most_elements;
       at = xml.find(open, at)) {
    at += open.size();
    const auto end = xml.find(close, at);
    if (end == std::string_view::npos)
      break;
    found.push_back(xml.substr(at, end - at));
    at = end + close.size();
  }
  return found;
}

std::string xml_text(std::string_view xml, std::string_view name) {
  const auto found = xml_elements(xml, name);
  return found.empty() ? std::string{} : unescaped(found.front());
}

} // namespace paceline
