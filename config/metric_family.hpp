/// What a metric is, before anybody counts: name, type, labels, meaning and bound of its series.
///
/// Families are constants (`metric_list.hpp`); `metrics` makes their series.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace paceline {

enum class metric_type {
  counter,   ///< only rises, from 0 at the start of the process
  gauge,     ///< as it is now
  histogram, ///< how often a value was how large
};

/// Names of a family's labels; an empty one does not exist. No metric of ours needs a third.
struct label_names {
  std::string_view first = {}, second = {};

  constexpr std::size_t count() const {
    return (first.empty() ? 0u : 1u) + (second.empty() ? 0u : 1u);
  }
};

struct metric_family {
  /// Series of one family; label values beyond it share the series whose labels all say `other`.
  static constexpr std::size_t max_series = 200;

  metric_type type;
  std::string_view name;
  label_names labels;
  std::string_view meaning; ///< one or a few sentences, for the exposition and docs/metrics.md
  std::string_view watch;   ///< what should worry an operator; empty: nothing by itself
  std::span<const double> buckets = {}; ///< upper bounds, rising; histograms only
};

// One type for each kind, so that a counter can't be asked for where a gauge is declared.

struct counter_family : metric_family {
  constexpr counter_family(std::string_view name, label_names labels, std::string_view meaning,
                           std::string_view watch = {})
      : metric_family{metric_type::counter, name, labels, meaning, watch} {}
};

struct gauge_family : metric_family {
  constexpr gauge_family(std::string_view name, label_names labels, std::string_view meaning,
                         std::string_view watch = {})
      : metric_family{metric_type::gauge, name, labels, meaning, watch} {}
};

struct histogram_family : metric_family {
  constexpr histogram_family(std::string_view name, label_names labels,
                             std::span<const double> buckets, std::string_view meaning,
                             std::string_view watch = {})
      : metric_family{metric_type::histogram, name, labels, meaning, watch, buckets} {}
};

} // namespace paceline
