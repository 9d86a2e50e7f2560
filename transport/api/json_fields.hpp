/// Reading the members of an object one by one by name, each with its allowed range.
///
/// Every reader returns nothing where the member is absent or wrong; what is wrong goes to the
/// list of problems with its pointer and what would be allowed. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "storage/intake.hpp"
#include "transport/api/json_document.hpp"
#include "transport/api/problem_list.hpp"

namespace paceline {

/// What a text may be.
struct text_rule {
  std::size_t most = 0;  ///< octets
  std::size_t least = 0; ///< octets
  bool one_line = true;  ///< no CR, LF or other control character but tab
};

/// An absolute time's range, microseconds since 1970, and how to say it.
struct time_range {
  unix_us first = 0, last = 0;
  std::string_view words; ///< e.g. `from 1 hour ago to 366 days ahead`
};

/// One object that is being read. Lives on the stack; `problems` and `where` outlive it.
class object_fields {
public:
  /// `value` that is no object is reported once, and reads as empty.
  object_fields(json_value value, const json_place& where, problem_list& problems);

  const json_place& place() const { return where_; }
  problem_list& problems() { return problems_; }

  /// The member, and from now on it is known. At most 24 names, of the first 64 members.
  std::optional<json_value> find(std::string_view name);
  /// The member, without making it known.
  std::optional<json_value> peek(std::string_view name) const;
  bool has(std::string_view name) const { return peek(name).has_value(); }

  std::optional<std::string_view> text(std::string_view name, const text_rule& rule);
  std::optional<std::int64_t> integer(std::string_view name, std::int64_t least, std::int64_t most);
  /// `range` says the range in words.
  std::optional<double> number(std::string_view name, double least, double most,
                               std::string_view range);
  std::optional<unix_us> time(std::string_view name, const time_range& range);

  /// Reports a member that must be there and is not.
  void need(std::string_view name, std::string_view what);
  void add(std::string_view name, std::string detail) {
    problems_.add(json_place{where_, name}, std::move(detail));
  }
  /// Reports members that nobody has asked for.
  void finish();

private:
  std::string known_names() const;
  void wrong_kind(std::string_view name, const json_value& value, std::string_view wanted);

  json_value value_;
  const json_place& where_;
  problem_list& problems_;
  bool is_object_;
  std::uint64_t seen_ = 0; ///< bit i: member i has been asked for
  std::array<std::string_view, 24> names_;
  std::size_t name_count_ = 0;
};

/// What is wrong with a text under this rule; nothing if it is fine.
std::optional<std::string> text_problem(std::string_view text, const text_rule& rule);

/// CR, LF, NUL and all other control characters but tab: what must not get into a header.
bool has_control_characters(std::string_view text);

} // namespace paceline
