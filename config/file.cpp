#include "config/file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <variant>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <toml++/toml.h>

#include "config/text.hpp"

namespace paceline {
namespace {

constexpr std::size_t max_octets = 1024 * 1024;
/// Each dot of a key nests a table, and tables are walked recursively: a header of 500,000 dots
/// overruns the stack. No configuration needs a hundredth of this.
constexpr std::ptrdiff_t max_dots = 20'000;

/// A descriptor that is closed with its scope.
class open_file {
public:
  explicit open_file(const std::filesystem::path& path)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~open_file() {
    if (descriptor_ >= 0)
      ::close(descriptor_);
  }
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;
  int get() const { return descriptor_; }

private:
  int descriptor_;
};

config_error file_error(std::string source, std::string advice) {
  return {.key = "",
          .value = "",
          .allowed = "TOML in UTF-8, at most 1 MiB",
          .source = std::move(source),
          .advice = std::move(advice)};
}

/// The octets of the file, or what the system said.
std::variant<std::string, config_error> read_octets(const std::filesystem::path& path,
                                                    const std::string& name) {
  open_file file{path};
  std::string text(max_octets + 1, '\0');
  std::size_t size = 0;
  while (file.get() >= 0 && size < text.size()) {
    auto count = ::read(file.get(), text.data() + size, text.size() - size);
    if (count == 0)
      break;
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return file_error(name, "can't be read: " + std::string{std::strerror(errno)});
    size += static_cast<std::size_t>(count);
  }
  if (file.get() < 0)
    return file_error(name, "can't be opened: " + std::string{std::strerror(errno)}
                                + "; check the path and its permissions");
  if (size > max_octets)
    return file_error(name, "is larger than 1 MiB: check the path");
  text.resize(size);
  return text;
}

std::string at_line(const std::string& name, std::size_t line) {
  return name + ":" + std::to_string(line);
}

std::string at_offset(const std::string& name, std::string_view text, std::size_t offset) {
  auto lines = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n');
  return at_line(name, static_cast<std::size_t>(lines) + 1);
}

std::optional<config_error> fault_of_content(std::string_view text, const std::string& name) {
  if (auto offset = first_invalid_utf8(text))
    return file_error(at_offset(name, text, *offset), "is not UTF-8: save it in that encoding");
  if (auto offset = text.find('\0'); offset != std::string_view::npos)
    return file_error(at_offset(name, text, offset), "holds a NUL character: remove it");
  if (std::count(text.begin(), text.end(), '.') > max_dots)
    return file_error(name, "holds more than 20000 dots: its keys are too deep");
  return std::nullopt;
}

std::string kind_of(const toml::node& node) {
  switch (node.type()) {
  case toml::node_type::array:
    return "list";
  case toml::node_type::date:
  case toml::node_type::date_time:
    return "date";
  case toml::node_type::time:
    return "time";
  default:
    return "table";
  }
}

raw_value value_of(const toml::node& node) {
  if (auto flag = node.value_exact<bool>())
    return *flag;
  if (auto integer = node.value_exact<std::int64_t>())
    return *integer;
  if (auto number = node.value_exact<double>())
    return *number;
  if (auto text = node.value_exact<std::string>())
    return *text;
  auto list = node.as_array();
  if (!list || std::any_of(list->begin(), list->end(), [](const toml::node& item) {
        return !item.is_string();
      }))
    return foreign_value{kind_of(node)};
  std::vector<std::string> items;
  for (const auto& item : *list)
    items.push_back(*item.value_exact<std::string>());
  return items;
}

/// Adds the leaves of `from` to `out`; `path` is where `from` stands and is left as it was.
void flatten(const toml::table& from, const std::string& name, std::vector<std::string>& path,
             std::vector<std::pair<toml::source_position, raw_setting>>& out) {
  for (const auto& [key, node] : from) {
    path.emplace_back(key.str());
    auto table = node.as_table();
    if (table && !table->empty()) {
      flatten(*table, name, path, out);
    } else {
      // A table made by a dotted header has no place of its own; its key always has one.
      auto where = key.source().begin;
      out.emplace_back(where, raw_setting{path, value_of(node), at_line(name, where.line)});
    }
    path.pop_back();
  }
}

} // namespace

file_content read_settings_file(const std::filesystem::path& path) {
  auto name = printable(path.string(), 1000);
  auto octets = read_octets(path, name);
  if (auto failure = std::get_if<config_error>(&octets))
    return {{}, {*failure}};
  const auto& text = std::get<std::string>(octets);
  if (auto fault = fault_of_content(text, name))
    return {{}, {*fault}};
  try {
    auto root = toml::parse(std::string_view{text});
    std::vector<std::pair<toml::source_position, raw_setting>> found;
    std::vector<std::string> at;
    flatten(root, name, at, found);
    // TOML tables are sorted by name; people read files from the top.
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    file_content content;
    for (auto& entry : found)
      content.values.push_back(std::move(entry.second));
    return content;
  } catch (const toml::parse_error& failure) {
    return {{},
            {file_error(at_line(name, failure.source().begin.line),
                        "is not valid TOML: " + printable(failure.description(), 300))}};
  }
}

} // namespace paceline
