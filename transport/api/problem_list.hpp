/// What is wrong with a request, collected while it is read, so that a client learns of all of it
/// at once.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "transport/api/json_pointer.hpp"
#include "transport/http/problem.hpp"

namespace paceline {

/// Keeps the first 50; further ones only count as "there is something wrong".
class problem_list {
public:
  static constexpr std::size_t most = 50;

  void add(std::string pointer, std::string detail) {
    if (!is_full())
      entries_.push_back({std::move(pointer), std::move(detail)});
  }
  void add(const json_place& where, std::string detail) {
    if (!is_full())
      entries_.push_back({where.pointer(), std::move(detail)});
  }
  bool is_empty() const { return entries_.empty(); }
  /// Reading on would tell nobody anything.
  bool is_full() const { return entries_.size() >= most; }
  std::size_t size() const { return entries_.size(); }
  const std::vector<field_problem>& entries() const { return entries_; }

private:
  std::vector<field_problem> entries_;
};

} // namespace paceline
