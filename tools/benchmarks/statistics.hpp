/// Order statistics of a few runs. Pure.
#pragma once

#include <vector>

namespace paceline::bench {

/// What several runs gave.
struct spread {
  double min = 0, median = 0, max = 0;
};

/// Of at least one value; the median of an even number is the mean of the middle two. Throws
/// `std::invalid_argument` where there is none.
spread spread_of(std::vector<double> values);

/// The nearest-rank quantile: the least value that `share` (0 to 1) of the values do not exceed.
/// Throws `std::invalid_argument` where there is none.
double quantile(std::vector<double> values, double share);

} // namespace paceline::bench
