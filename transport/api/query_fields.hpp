/// The query of a request: each parameter once, none that nobody has asked for. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "transport/api/problem_list.hpp"
#include "transport/http/message.hpp"

namespace paceline {

/// Lives on the stack beside the request, which outlives it.
class query_fields {
public:
  explicit query_fields(const http_request& request) : request_(request) {}

  /// Nothing if absent or wrong; what is wrong is in `problems` as `?name`.
  std::optional<std::string_view> text(std::string_view name, std::size_t most = 320);
  /// Digits only.
  std::optional<std::int64_t> integer(std::string_view name, std::int64_t least, std::int64_t most);
  void add(std::string_view name, std::string detail) {
    problems_.add("?" + std::string{name}, std::move(detail));
  }
  /// Reports parameters that nobody has asked for. True if all is well.
  bool finish();
  const problem_list& problems() const { return problems_; }

private:
  const http_request& request_;
  problem_list problems_;
  std::vector<std::string_view> known_;
};

/// An id in decimal digits, above 0.
std::optional<std::int64_t> read_id(std::string_view text);

/// A cursor is opaque to clients: what a page ends with, under the kind of list it belongs to.
std::string make_cursor(std::string_view kind, std::string_view last);
/// Nothing if it is no cursor of this kind.
std::optional<std::string> read_cursor(std::string_view kind, std::string_view cursor);

} // namespace paceline
