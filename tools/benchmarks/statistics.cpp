#include "tools/benchmarks/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace paceline::bench {

spread spread_of(std::vector<double> values) {
  if (values.empty())
    throw std::invalid_argument("no values");
  std::sort(values.begin(), values.end());
  const auto middle = values.size() / 2;
  const double median =
      values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {values.front(), median, values.back()};
}

double quantile(std::vector<double> values, double share) {
  if (values.empty())
    throw std::invalid_argument("no values");
  // A little less than the product: 0.9 * 10 must be rank 9 whatever its last bit says.
  const auto rank =
      static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size()) - 1e-9));
  const auto nth = std::clamp<std::size_t>(rank, 1, values.size()) - 1;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(nth), values.end());
  return values[nth];
}

} // namespace paceline::bench
