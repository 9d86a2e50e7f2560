#include "transport/api/query_fields.hpp"

#include <algorithm>
#include <charconv>

#include "config/text.hpp"
#include "transport/api/base64url.hpp"
#include "transport/api/json_fields.hpp"

namespace paceline {

std::optional<std::string_view> query_fields::text(std::string_view name, std::size_t most) {
  known_.push_back(name);
  std::optional<std::string_view> found;
  for (const auto& [key, value] : request_.query) {
    if (key != name)
      continue;
    if (found) {
      add(name, "is there twice");
      return std::nullopt;
    }
    found = value;
  }
  if (!found)
    return std::nullopt;
  if (auto problem = text_problem(*found, {.most = most, .least = 1})) {
    add(name, std::move(*problem));
    return std::nullopt;
  }
  if (first_invalid_utf8(*found)) {
    add(name, "is not UTF-8");
    return std::nullopt;
  }
  return found;
}

std::optional<std::int64_t> query_fields::integer(std::string_view name, std::int64_t least,
                                                  std::int64_t most) {
  const auto given = text(name, 40);
  if (!given)
    return std::nullopt;
  std::int64_t read = 0;
  const auto [stop, problem] = std::from_chars(given->data(), given->data() + given->size(), read);
  if (problem != std::errc{} || stop != given->data() + given->size() || read < least
      || read > most) {
    add(name, "must be an integer from " + std::to_string(least) + " to " + std::to_string(most));
    return std::nullopt;
  }
  return read;
}

bool query_fields::finish() {
  std::string allowed;
  for (const auto& name : known_)
    allowed += (allowed.empty() ? "" : ", ") + std::string{name};
  for (const auto& [key, value] : request_.query)
    if (std::find(known_.begin(), known_.end(), key) == known_.end())
      add(printable(key, 64), allowed.empty() ? "no query parameter is known here"
                                              : "is not known here; known are: " + allowed);
  return problems_.is_empty();
}

std::optional<std::int64_t> read_id(std::string_view text) {
  std::int64_t read = 0;
  const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), read);
  if (problem != std::errc{} || stop != text.data() + text.size() || read <= 0)
    return std::nullopt;
  return read;
}

std::string make_cursor(std::string_view kind, std::string_view last) {
  return base64url(std::string{kind} + ":" + std::string{last});
}

std::optional<std::string> read_cursor(std::string_view kind, std::string_view cursor) {
  const auto text = read_base64url(cursor);
  const auto prefix = std::string{kind} + ":";
  if (!text || !text->starts_with(prefix) || first_invalid_utf8(*text)
      || has_control_characters(*text))
    return std::nullopt;
  return text->substr(prefix.size());
}

} // namespace paceline
