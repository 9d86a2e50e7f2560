#include "transport/api/shared_fields.hpp"

#include <algorithm>

#include "config/text.hpp"
#include "storage/model/ids.hpp"

namespace paceline {
namespace {

constexpr std::size_t max_tags = 10, max_tag_name = 64, max_tag_value = 256;
constexpr std::size_t max_fields = 64 << 10;

bool is_tag_name(std::string_view name) {
  return !name.empty() && name.size() <= max_tag_name
         && std::all_of(name.begin(), name.end(), [](char c) {
              return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
                     || c == '_' || c == '-';
            });
}

} // namespace

std::optional<std::string> read_region(object_fields& from) {
  const auto region = from.text("region", {.most = 63, .least = 1});
  if (!region)
    return std::nullopt;
  if (!route_name::parse("x:" + std::string{*region})) {
    from.add("region", "must be of lower case letters, digits and inner hyphens");
    return std::nullopt;
  }
  return std::string{*region};
}

std::optional<std::string> read_tags(object_fields& from) {
  const auto tags = from.find("tags");
  if (!tags)
    return std::nullopt;
  auto& problems = from.problems();
  const json_place place{from.place(), "tags"};
  if (tags->kind() != json_kind::object) {
    problems.add(place,
                 "must be an object of names and texts, not " + std::string{name(tags->kind())});
    return std::nullopt;
  }
  if (tags->size() > max_tags) {
    problems.add(place, "has " + std::to_string(tags->size()) + " tags: at most 10 are allowed");
    return std::nullopt;
  }
  std::string json = "{";
  for (const auto tag : *tags) {
    const json_place at{place, tag.key()};
    if (!is_tag_name(tag.key()))
      problems.add(at, "the name must be 1 to 64 letters, digits, hyphens and underscores");
    else if (tag.kind() != json_kind::text)
      problems.add(at, "must be a text, not " + std::string{name(tag.kind())});
    else if (auto problem = text_problem(tag.text(), {.most = max_tag_value}))
      problems.add(at, std::move(*problem));
    else
      json += (json.size() > 1 ? "," : "") + json_string(tag.key()) + ":" + json_string(tag.text());
  }
  return json + "}";
}

std::optional<json_value> read_fields_object(object_fields& from) {
  const auto fields = from.find("fields");
  if (!fields)
    return std::nullopt;
  if (fields->kind() != json_kind::object)
    from.add("fields", "must be an object, not " + std::string{name(fields->kind())});
  else if (fields->text().size() > max_fields)
    from.add("fields", "has " + std::to_string(fields->text().size())
                           + " octets: at most 65536 are allowed in a message");
  else
    return fields;
  return std::nullopt;
}

} // namespace paceline
