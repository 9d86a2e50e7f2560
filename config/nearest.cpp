#include "config/nearest.hpp"

#include <algorithm>
#include <numeric>

namespace paceline {
namespace {

constexpr std::size_t longest_key = 100; ///< bounds the work for files full of nonsense

/// Levenshtein's distance, one row at a time.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    auto diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      auto replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

} // namespace

std::string nearest(std::string_view written, const std::vector<std::string>& candidates) {
  if (written.size() > longest_key)
    return {};
  std::string best;
  auto least = written.size() / 3 + 1;
  for (const auto& candidate : candidates) {
    auto apart = distance(written, candidate);
    if (apart < least) {
      least = apart;
      best = candidate;
    }
  }
  return best;
}

} // namespace paceline
