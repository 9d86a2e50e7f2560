#include "tools/paceline/unseen_fields.hpp"

#include <algorithm>

#include "config/text.hpp"

namespace paceline {
namespace {

/// Whether the object has that member, at whatever depth. Quotes within texts are escaped, so that
/// nothing else looks like one.
bool has_member(const std::string& json, const std::string& name) {
  return json.find(json_string(name.substr(0, name.find('.'))) + ":") != std::string::npos;
}

std::string tags_of(const std::vector<std::string>& names) {
  std::string list;
  for (const auto& name : names)
    list += (list.empty() ? "{{" : ", {{") + printable(name, 60) + "}}";
  return list;
}

} // namespace

std::string missing_warning(const template_fields& of) {
  if (of.missing.empty())
    return {};
  return "The templates use " + tags_of(of.missing)
         + ", which the message does not have: is the name spelt right?";
}

unseen_fields::unseen_fields(const content& what) : names_(find_template_fields(what, "{}").used) {
  if (what.missing == missing_field::fallback)
    note(what.defaults);
}

void unseen_fields::note(const std::string& fields) {
  std::erase_if(names_, [&fields](const std::string& name) { return has_member(fields, name); });
}

std::string unseen_fields::warning() const {
  if (names_.empty())
    return {};
  return "The templates use " + tags_of(names_)
         + ", which no recipient has: is the name spelt right?";
}

} // namespace paceline
