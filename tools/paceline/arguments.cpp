#include "tools/paceline/arguments.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "config/text.hpp"
#include "tools/paceline/json.hpp"

namespace paceline {
namespace {

error invalid(std::string text) {
  return {error_kind::invalid, std::move(text)};
}

std::string in_quotes(std::string_view text) {
  return std::string{"'"}.append(printable(text)).append("'");
}

std::optional<nanoseconds> unit_of(std::string_view unit) {
  using namespace std::chrono;
  if (unit == "ms")
    return nanoseconds{milliseconds{1}};
  if (unit == "s")
    return nanoseconds{seconds{1}};
  if (unit == "m")
    return nanoseconds{minutes{1}};
  if (unit == "h")
    return nanoseconds{hours{1}};
  if (unit == "d")
    return nanoseconds{hours{24}};
  return std::nullopt;
}

constexpr nanoseconds longest = std::chrono::hours{24 * 366};
constexpr std::size_t largest_file = 1024 * 1024;

std::string shown_path(const std::string& path) {
  return path == "-" ? "standard input" : printable(path);
}

} // namespace

result<nanoseconds> parse_duration(std::string_view text) {
  const auto wrong = invalid(in_quotes(text)
                             + " is no duration: write whole numbers with units, such as 500ms, "
                               "30s, 10m, 1h30m or 2d; at most 366d.");
  nanoseconds sum{0};
  for (auto rest = text; !rest.empty();) {
    std::int64_t number = 0;
    const auto [end, problem] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (problem != std::errc{} || number < 0)
      return wrong;
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    const auto letters = rest.substr(0, rest.find_first_of("0123456789"));
    const auto unit = unit_of(letters);
    if (!unit || number > longest / *unit)
      return wrong;
    sum += number * *unit;
    rest.remove_prefix(letters.size());
  }
  if (sum <= nanoseconds{0} || sum > longest)
    return wrong;
  return sum;
}

result<std::int64_t> parse_id(std::string_view text, std::string_view what) {
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{} || end != text.data() + text.size() || number <= 0)
    return invalid(in_quotes(text) + " is no " + std::string{what}
                   + " id: it is a number, as lists show it.");
  return number;
}

result<std::string> fields_json(const std::vector<std::string>& pairs) {
  json_text out;
  out.begin_object();
  std::set<std::string_view> seen;
  for (const std::string_view pair : pairs) {
    const auto name = pair.substr(0, pair.find('='));
    if (name.empty() || name.size() == pair.size())
      return invalid(in_quotes(pair) + " is no field: write name=value.");
    if (first_invalid_utf8(pair))
      return invalid("The field " + printable(name) + " is not UTF-8.");
    if (!seen.insert(name).second)
      return invalid("The field " + printable(name) + " is given twice.");
    out.member(name, pair.substr(name.size() + 1));
  }
  auto line = out.end_object().line();
  line.pop_back();
  return line;
}

result<std::string> read_file(const std::string& path, std::size_t most) {
  const auto shown = shown_path(path);
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> opened{nullptr, std::fclose};
  if (path != "-") {
    opened.reset(std::fopen(path.c_str(), "rbe"));
    if (!opened)
      return invalid("Can't read " + shown + ": " + std::strerror(errno) + ".");
  }
  std::FILE* const from = opened ? opened.get() : stdin;
  std::string octets;
  std::array<char, 65536> block{};
  while (const auto got = std::fread(block.data(), 1, block.size(), from)) {
    octets.append(block.data(), got);
    if (octets.size() > most)
      return invalid(shown + " is larger than " + std::to_string(most >> 20) + " MiB.");
  }
  if (std::ferror(from))
    return invalid("Can't read " + shown + ": " + std::strerror(errno) + ".");
  return octets;
}

result<std::string> read_text_file(const std::string& path) {
  auto read = read_file(path, largest_file);
  if (!read)
    return read;
  auto text = std::move(*read);
  const auto shown = shown_path(path);
  if (text.starts_with("\xEF\xBB\xBF"))
    text.erase(0, 3);
  if (const auto at = first_invalid_utf8(text))
    return invalid(shown + " is not UTF-8 at octet " + std::to_string(*at + 1) + ".");
  if (text.find('\0') != std::string::npos)
    return invalid(shown + " holds a NUL.");
  return text;
}

std::string without_line_end(std::string text) {
  if (text.ends_with('\n'))
    text.pop_back();
  if (text.ends_with('\r'))
    text.pop_back();
  return text;
}

} // namespace paceline
