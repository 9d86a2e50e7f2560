#include "transport/providers/rate_headers.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "transport/providers/retry_after.hpp"

namespace paceline {
namespace {

constexpr std::int64_t most = 1'000'000'000; ///< of any number here
constexpr std::array<std::int64_t, 14> usual_windows{1,   2,   5,   10,  15,   30,   60,
                                                     120, 300, 600, 900, 1800, 3600, 86400};

std::string_view without_blanks(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  text = without_blanks(text);
  if (text.empty())
    return std::nullopt;
  std::int64_t value = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '9')
      return std::nullopt;
    value = std::min(most, value * 10 + (digit - '0'));
  }
  return value;
}

/// Takes what stands before the next `separator` off the front of `rest`.
std::string_view next_part(std::string_view& rest, char separator) {
  const auto end = rest.find(separator);
  const auto part = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return without_blanks(part);
}

/// `10;w=1` or `"name";q=10;w=1` as requests per second.
std::optional<double> rate_of_policy(std::string_view policy) {
  auto limit = whole_number(next_part(policy, ';'));
  std::optional<std::int64_t> window;
  while (!policy.empty()) {
    const auto parameter = next_part(policy, ';');
    if (parameter.starts_with("w="))
      window = whole_number(parameter.substr(2));
    else if (parameter.starts_with("q="))
      limit = whole_number(parameter.substr(2));
  }
  if (!limit || !window || *limit == 0 || *window == 0)
    return std::nullopt;
  return static_cast<double>(*limit) / static_cast<double>(*window);
}

std::optional<double> lowest_rate(std::string_view policies) {
  std::optional<double> lowest;
  while (!policies.empty())
    if (const auto rate = rate_of_policy(next_part(policies, ',')))
      lowest = lowest ? std::min(*lowest, *rate) : *rate;
  return lowest;
}

std::int64_t usual_window(std::int64_t left) {
  const auto found = std::lower_bound(usual_windows.begin(), usual_windows.end(), left);
  return found == usual_windows.end() ? left : *found;
}

} // namespace

std::optional<double> requests_per_second(const rate_headers& from) {
  if (const auto rate = lowest_rate(from.policy))
    return rate;
  if (const auto rate = lowest_rate(from.limit))
    return rate;
  auto limits = from.limit;
  const auto limit = whole_number(next_part(limits, ','));
  const auto left = whole_number(from.reset);
  if (!limit || !left || *limit == 0)
    return std::nullopt;
  return static_cast<double>(*limit) / static_cast<double>(usual_window(*left));
}

std::optional<std::chrono::seconds> until_reset(const rate_headers& from) {
  const auto left = whole_number(from.reset);
  if (!left)
    return std::nullopt;
  return std::chrono::seconds{std::min<std::int64_t>(*left, max_retry_after.count())};
}

} // namespace paceline
