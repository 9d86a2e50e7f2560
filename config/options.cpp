#include "config/options.hpp"

#include <algorithm>

#include "config/values.hpp"

namespace paceline {

std::string_view section_of(const option& which) {
  return which.key.substr(0, which.key.find('.'));
}

std::string_view name_of(const option& which) {
  return which.key.substr(which.key.rfind('.') + 1);
}

bool is_repeated(const option& which) {
  return which.key.find('<') != std::string_view::npos;
}

std::string key_of(const option& which, std::string_view instance) {
  if (!is_repeated(which))
    return std::string{which.key};
  return join_key(
      {std::string{section_of(which)}, std::string{instance}, std::string{name_of(which)}});
}

std::string environment_name(const option& which) {
  if (is_repeated(which))
    return {};
  std::string out = "PACELINE_";
  for (char c : which.key) {
    if (c == '.')
      out += "__";
    else
      out += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return out;
}

std::vector<std::string_view> choices_of(const option& which) {
  std::vector<std::string_view> out;
  for (auto rest = which.choices; !rest.empty();) {
    auto word = rest.substr(0, rest.find(' '));
    out.push_back(word);
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
  }
  return out;
}

std::string allowed_values(const option& which) {
  auto range = " from " + shortest(which.minimum) + " to " + shortest(which.maximum);
  switch (which.type) {
  case option_type::boolean:
    return "true or false";
  case option_type::integer:
    return "integer" + range;
  case option_type::number:
    return "number" + range;
  case option_type::duration_ms:
    return "whole milliseconds" + range;
  case option_type::text:
    return "text of" + range.substr(5) + " octets";
  case option_type::list_of_text:
    return "list of texts of" + range.substr(5) + " octets each";
  case option_type::choice:
    break;
  }
  std::string out = "one of";
  for (auto word : choices_of(which))
    out.append(out == "one of" ? " " : ", ").append(word);
  return out;
}

} // namespace paceline
