#include "transport/api/json_fields.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "config/text.hpp"
#include "transport/api/rfc3339.hpp"

namespace paceline {
namespace {

constexpr std::size_t tracked_members = 64; ///< bits of `seen_`

std::string shown(std::string_view text) {
  return printable(text, 40);
}

} // namespace

bool has_control_characters(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
  });
}

std::optional<std::string> text_problem(std::string_view text, const text_rule& rule) {
  if (text.size() < rule.least)
    return "must not be empty";
  if (text.size() > rule.most)
    return "has " + std::to_string(text.size()) + " octets: at most " + std::to_string(rule.most)
           + " are allowed";
  if (rule.one_line && has_control_characters(text))
    return "must not contain a line break (CR, LF), NUL or another control character";
  return std::nullopt;
}

object_fields::object_fields(json_value value, const json_place& where, problem_list& problems)
    : value_(value), where_(where), problems_(problems),
      is_object_(value.kind() == json_kind::object) {
  if (!is_object_)
    problems_.add(where_, "must be an object, not " + std::string{paceline::name(value.kind())});
}

std::optional<json_value> object_fields::find(std::string_view name) {
  if (name_count_ < names_.size())
    names_[name_count_++] = name;
  if (!is_object_)
    return std::nullopt;
  std::size_t index = 0;
  for (const auto member : value_) {
    if (index == tracked_members)
      break;
    if (member.key() == name) {
      seen_ |= std::uint64_t{1} << index;
      return member;
    }
    ++index;
  }
  return std::nullopt;
}

std::optional<json_value> object_fields::peek(std::string_view name) const {
  if (is_object_)
    for (const auto member : value_)
      if (member.key() == name)
        return member;
  return std::nullopt;
}

void object_fields::wrong_kind(std::string_view name, const json_value& value,
                               std::string_view wanted) {
  add(name,
      "must be " + std::string{wanted} + ", not " + std::string{paceline::name(value.kind())});
}

std::optional<std::string_view> object_fields::text(std::string_view name, const text_rule& rule) {
  const auto value = find(name);
  if (!value)
    return std::nullopt;
  if (value->kind() != json_kind::text) {
    wrong_kind(name, *value, "a text");
    return std::nullopt;
  }
  if (auto problem = text_problem(value->text(), rule)) {
    add(name, std::move(*problem));
    return std::nullopt;
  }
  return value->text();
}

std::optional<std::int64_t> object_fields::integer(std::string_view name, std::int64_t least,
                                                   std::int64_t most) {
  const auto value = find(name);
  if (!value)
    return std::nullopt;
  const auto wanted = "an integer from " + std::to_string(least) + " to " + std::to_string(most);
  if (value->kind() != json_kind::number) {
    wrong_kind(name, *value, wanted);
    return std::nullopt;
  }
  const auto text = value->text();
  std::int64_t read = 0;
  const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), read);
  if (problem != std::errc{} || stop != text.data() + text.size() || read < least || read > most) {
    add(name, "is " + shown(text) + ": must be " + wanted);
    return std::nullopt;
  }
  return read;
}

std::optional<double> object_fields::number(std::string_view name, double least, double most,
                                            std::string_view range) {
  const auto value = find(name);
  if (!value)
    return std::nullopt;
  const auto wanted = "a number " + std::string{range};
  if (value->kind() != json_kind::number) {
    wrong_kind(name, *value, wanted);
    return std::nullopt;
  }
  const auto text = value->text();
  double read = 0;
  const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), read);
  if (problem != std::errc{} || stop != text.data() + text.size() || !std::isfinite(read)
      || read < least || read > most) {
    add(name, "is " + shown(text) + ": must be " + wanted);
    return std::nullopt;
  }
  return read;
}

std::optional<unix_us> object_fields::time(std::string_view name, const time_range& range) {
  const auto value = find(name);
  if (!value)
    return std::nullopt;
  const auto wanted = "an RFC 3339 time with its offset, such as 2027-01-31T09:30:00+01:00, "
                      + std::string{range.words};
  if (value->kind() != json_kind::text) {
    wrong_kind(name, *value, wanted);
    return std::nullopt;
  }
  const auto read = read_rfc3339(value->text());
  if (!read.time) {
    add(name, read.problem + ": must be " + wanted);
    return std::nullopt;
  }
  if (*read.time < range.first || *read.time > range.last) {
    add(name, "is " + shown(value->text()) + ": must be " + wanted);
    return std::nullopt;
  }
  return read.time;
}

void object_fields::need(std::string_view name, std::string_view what) {
  if (is_object_ && !has(name))
    add(name, "is missing: " + std::string{what});
}

std::string object_fields::known_names() const {
  std::string all;
  for (std::size_t i = 0; i < name_count_; ++i)
    if (std::find(names_.begin(), names_.begin() + i, names_[i]) == names_.begin() + i)
      all += (all.empty() ? "" : ", ") + std::string{names_[i]};
  return all;
}

void object_fields::finish() {
  if (!is_object_)
    return;
  std::size_t index = 0;
  for (const auto member : value_) {
    const bool is_known = index < tracked_members && (seen_ & (std::uint64_t{1} << index)) != 0;
    if (!is_known)
      add(member.key(), "is not known here; known are: " + known_names());
    if (problems_.is_full())
      return;
    ++index;
  }
}

} // namespace paceline
