#include "config/values.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "config/text.hpp"

namespace paceline {
namespace {

using converted = std::variant<option_value, refused_value>;

refused_value wrong_type(const option& which) {
  return {"give " + allowed_values(which)};
}

/// All of `text` as a number, in the notation of the C locale whatever the process uses.
template <class Number>
std::optional<Number> read_number(std::string_view text) {
  Number value{};
  auto last = text.data() + text.size();
  auto [end, failure] = std::from_chars(text.data(), last, value);
  if (failure != std::errc{} || end != last)
    return std::nullopt;
  return value;
}

converted in_range(const option& which, std::int64_t value) {
  // Bounds are whole and below 2^53, so that they are exact as doubles.
  if (value < static_cast<std::int64_t>(which.minimum)
      || value > static_cast<std::int64_t>(which.maximum))
    return refused_value{"out of range: give " + allowed_values(which)};
  return option_value{value};
}

converted in_range(const option& which, double value) {
  // Written so that a NaN is refused.
  if (!(value >= which.minimum && value <= which.maximum))
    return refused_value{"out of range: give " + allowed_values(which)};
  return option_value{value};
}

std::optional<refused_value> fault_of_text(const option& which, std::string_view text) {
  if (first_invalid_utf8(text))
    return refused_value{"it is not UTF-8"};
  if (text.find('\0') != std::string_view::npos)
    return refused_value{"it holds a NUL character: remove it"};
  auto size = static_cast<double>(text.size());
  if (size < which.minimum || size > which.maximum)
    return refused_value{"wrong length: give " + allowed_values(which)};
  return std::nullopt;
}

converted to_boolean(const option& which, const raw_value& value) {
  if (auto flag = std::get_if<bool>(&value))
    return option_value{*flag};
  auto written = std::get_if<untyped_text>(&value);
  if (written && (written->text == "true" || written->text == "false"))
    return option_value{written->text == "true"};
  return wrong_type(which);
}

converted to_integer(const option& which, const raw_value& value) {
  if (auto integer = std::get_if<std::int64_t>(&value))
    return in_range(which, *integer);
  if (auto written = std::get_if<untyped_text>(&value))
    if (auto integer = read_number<std::int64_t>(written->text))
      return in_range(which, *integer);
  return wrong_type(which);
}

converted to_number(const option& which, const raw_value& value) {
  if (auto number = std::get_if<double>(&value))
    return in_range(which, *number);
  if (auto integer = std::get_if<std::int64_t>(&value))
    return in_range(which, static_cast<double>(*integer));
  if (auto written = std::get_if<untyped_text>(&value))
    if (auto number = read_number<double>(written->text))
      return in_range(which, *number);
  return wrong_type(which);
}

const std::string* text_of(const raw_value& value) {
  if (auto written = std::get_if<untyped_text>(&value))
    return &written->text;
  return std::get_if<std::string>(&value);
}

converted to_text(const option& which, const raw_value& value) {
  auto text = text_of(value);
  if (!text)
    return wrong_type(which);
  if (auto fault = fault_of_text(which, *text))
    return *fault;
  return option_value{*text};
}

converted to_choice(const option& which, const raw_value& value) {
  auto text = text_of(value);
  auto words = choices_of(which);
  auto found = text ? std::find(words.begin(), words.end(), *text) : words.end();
  if (found == words.end())
    return wrong_type(which);
  return option_value{static_cast<std::int64_t>(found - words.begin())};
}

/// From the environment and flags, texts divided by commas; the empty text is the empty list.
converted to_list(const option& which, const raw_value& value) {
  std::vector<std::string> items;
  if (auto list = std::get_if<std::vector<std::string>>(&value)) {
    items = *list;
  } else if (auto written = std::get_if<untyped_text>(&value)) {
    for (std::string_view rest = written->text; !rest.empty();) {
      auto item = rest.substr(0, rest.find(','));
      items.emplace_back(item);
      rest.remove_prefix(std::min(item.size() + 1, rest.size()));
    }
  } else {
    return wrong_type(which);
  }
  for (const auto& item : items)
    if (auto fault = fault_of_text(which, item))
      return *fault;
  return option_value{std::move(items)};
}

std::string show_text(const option& which, std::string_view text) {
  switch (which.hidden) {
  case secrecy::none:
    return printable(text);
  case secrecy::password_inside:
    return printable(mask_dsn(text));
  case secrecy::all:
    return text.empty() ? "" : "***";
  }
  return {};
}

bool is_bare(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'
         || c == '-' || c == ':';
}

} // namespace

converted convert(const option& which, const raw_value& value) {
  switch (which.type) {
  case option_type::boolean:
    return to_boolean(which, value);
  case option_type::integer:
  case option_type::duration_ms:
    return to_integer(which, value);
  case option_type::number:
    return to_number(which, value);
  case option_type::text:
    return to_text(which, value);
  case option_type::list_of_text:
    return to_list(which, value);
  case option_type::choice:
    return to_choice(which, value);
  }
  return wrong_type(which);
}

std::string show(const option& which, const raw_value& value) {
  if (auto text = text_of(value))
    return show_text(which, *text);
  if (auto foreign = std::get_if<foreign_value>(&value))
    return "(" + foreign->kind + ")";
  if (auto flag = std::get_if<bool>(&value))
    return *flag ? "true" : "false";
  if (auto integer = std::get_if<std::int64_t>(&value))
    return std::to_string(*integer);
  if (auto number = std::get_if<double>(&value))
    return shortest(*number);
  std::string out;
  for (const auto& item : std::get<std::vector<std::string>>(value))
    out.append(out.empty() ? "" : ",").append(show_text(which, item));
  return out;
}

std::string shortest(double value) {
  constexpr double exact = 9007199254740992.0; // 2^53
  char buffer[32];
  auto last = buffer + sizeof buffer;
  auto written = std::fabs(value) <= exact && value == std::trunc(value)
                     ? std::to_chars(buffer, last, static_cast<std::int64_t>(value))
                     : std::to_chars(buffer, last, value);
  return {buffer, written.ptr};
}

std::string join_key(const std::vector<std::string>& path) {
  std::string out;
  for (const auto& part : path) {
    bool bare = !part.empty() && std::all_of(part.begin(), part.end(), is_bare);
    out.append(out.empty() ? "" : ".").append(bare ? part : '"' + printable(part) + '"');
  }
  return out;
}

std::optional<std::vector<std::string>> split_key(std::string_view key) {
  std::vector<std::string> path;
  for (std::size_t at = 0;; ++at) {
    bool quoted = at < key.size() && key[at] == '"';
    auto start = quoted ? at + 1 : at;
    auto end = key.find(quoted ? '"' : '.', start);
    if (end == std::string_view::npos) {
      if (quoted)
        return std::nullopt;
      end = key.size();
    }
    if (end == start)
      return std::nullopt;
    path.emplace_back(key.substr(start, end - start));
    at = quoted ? end + 1 : end;
    if (at == key.size())
      return path;
    if (key[at] != '.')
      return std::nullopt;
  }
}

} // namespace paceline
