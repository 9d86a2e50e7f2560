/// Every option once. Parsing, errors about unknown keys, environment names, `--set`, the example
/// file and the reference page all derive from this table; to add an option, add a row there and a
/// member in `settings.hpp`.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace paceline {

struct settings;
struct option;

enum class option_type {
  boolean,
  integer,
  number,
  text,
  list_of_text,
  duration_ms, ///< an integer number of milliseconds
  choice,
};

enum class secrecy {
  none,
  password_inside, ///< a connection string: all but its password is shown
  all,
};

/// A converted value. A choice is the index of its word; a duration is in milliseconds.
using option_value =
    std::variant<bool, std::int64_t, double, std::string, std::vector<std::string>>;

/// Puts a value into its member; `instance` is the name within a section of many, else empty.
using option_store = void (*)(settings& into, std::string_view instance, const option_value& value);

struct option {
  /// The TOML path. `routes.<route>.shards` exists once per configured route.
  std::string_view key;
  option_type type{};
  std::string_view unit; ///< empty where there is none
  /// As it would be written for `--set`; meaningless where `is_required`.
  std::string_view initial;
  double minimum = 0; ///< of the value, or of the octets of a text
  double maximum = 0;
  std::string_view choices; ///< words divided by one space, in the order of the enumeration
  std::string_view doc;
  option_store store = nullptr;
  bool is_required = false;
  secrecy hidden = secrecy::none; ///< of its value in errors and listings
  bool is_live = false;           ///< means the same when changed in a running node
  /// Shown in the reference in place of an empty default.
  std::string_view initial_note;
  std::string_view example; ///< for the example file, where required
};

/// A table of the file. `placeholder` is empty, or the `<name>` of a section of many, for which
/// `example` is an instance.
struct option_section {
  std::string_view name;
  std::string_view placeholder;
  std::string_view example;
  std::string_view doc;
};

/// In the order of the reference; options of one section stand together.
std::span<const option> all_options();
std::span<const option_section> all_sections();

/// The part of the key before its first dot.
std::string_view section_of(const option& which);
/// The part of the key after its last dot.
std::string_view name_of(const option& which);
/// Whether the option exists once per instance of its section.
bool is_repeated(const option& which);
/// The key, with `instance` in place of the placeholder.
std::string key_of(const option& which, std::string_view instance);
/// `PACELINE_DATABASE__DSN`; empty for repeated options, which the environment can't set.
std::string environment_name(const option& which);
/// The words of a choice.
std::vector<std::string_view> choices_of(const option& which);
/// E.g. `integer from 1 to 1024`, for errors and the reference.
std::string allowed_values(const option& which);

} // namespace paceline
