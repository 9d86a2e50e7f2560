/// The numbers a node shows to Prometheus: counters, gauges and histograms with bounded labels.
///
/// `main` owns one `metrics` and hands it down; there is no other. Whoever counts asks once for an
/// instrument of one series and keeps it: using it is one atomic step (a histogram takes a mutex of
/// its own) without any look-up. An instrument that was never asked for, as tests have it, counts
/// nothing. All of this is thread-safe.
///
/// Labels hold what is configured or written in the program (routes, outcomes, query names), never
/// addresses, ids or keys. Whatever is passed, a family has at most `metric_family::max_series`
/// series; what comes later is counted where all labels say `other`.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "config/metric_family.hpp"

namespace prometheus {
class Counter;
class Gauge;
class Histogram;
} // namespace prometheus

namespace paceline {

/// A handle, copied freely; valid as long as its `metrics`.
class counter {
public:
  counter() = default; ///< counts nothing
  /// `amount` below zero is ignored.
  void add(double amount = 1) const;
  /// For what is counted elsewhere and read at a scrape: never falls. One thread at a time.
  void raise_to(double total) const;
  double value() const; ///< 0 for one that counts nothing

private:
  friend class metrics;
  explicit counter(prometheus::Counter* series) : series_(series) {}
  prometheus::Counter* series_ = nullptr;
};

/// As counter.
class gauge {
public:
  gauge() = default;
  void set(double value) const;
  void add(double difference) const;
  double value() const;

private:
  friend class metrics;
  explicit gauge(prometheus::Gauge* series) : series_(series) {}
  prometheus::Gauge* series_ = nullptr;
};

/// As counter.
class histogram {
public:
  histogram() = default;
  void observe(double value) const;
  void observe(std::chrono::nanoseconds duration) const; ///< as seconds
  /// Whether it was made by a `metrics`.
  explicit operator bool() const { return series_ != nullptr; }

private:
  friend class metrics;
  explicit histogram(prometheus::Histogram* series) : series_(series) {}
  prometheus::Histogram* series_ = nullptr;
};

/// One owner's part of a gauge that shows a sum: replaced by `set`, taken back at the end. Not
/// thread-safe by itself; different parts of one gauge are independent.
class gauge_part {
public:
  gauge_part() = default;
  explicit gauge_part(gauge of) : of_(of) {}
  gauge_part(gauge_part&& other) noexcept;
  gauge_part& operator=(gauge_part&& other) noexcept;
  ~gauge_part() { set(0); }
  void set(double part);

private:
  gauge of_;
  double part_ = 0;
};

class metrics;

/// Keeps a function that runs before every exposition; its end waits for one that runs.
class scrape_hook {
public:
  scrape_hook() = default;
  scrape_hook(scrape_hook&& other) noexcept;
  scrape_hook& operator=(scrape_hook&& other) noexcept;
  ~scrape_hook();

private:
  friend class metrics;
  scrape_hook(const metrics* of, std::size_t number) : of_(of), number_(number) {}
  void release();
  const metrics* of_ = nullptr;
  std::size_t number_ = 0;
};

class metrics {
public:
  metrics();
  ~metrics();
  metrics(const metrics&) = delete;
  metrics& operator=(const metrics&) = delete;

  /// The family's series with these label values, in the order of the family's labels and as many
  /// (less or more is a bug). The same series for the same values; values longer than 100 octets
  /// are cut.
  using label_values = std::initializer_list<std::string_view>;
  counter get(const counter_family& family, label_values values = {});
  gauge get(const gauge_family& family, label_values values = {});
  histogram get(const histogram_family& family, label_values values = {});

  /// `sample` sets what is read and not counted; it runs on the scraper's thread, one at a time
  /// with all others, and must neither expose nor add or end hooks. Keep what is returned as long
  /// as what `sample` uses.
  [[nodiscard]] scrape_hook on_scrape(std::function<void()> sample);

  /// Everything in Prometheus' text format, version 0.0.4, for `GET /metrics`.
  std::string exposition() const;
  /// Its media type.
  static constexpr std::string_view content_type = "text/plain; version=0.0.4; charset=utf-8";

private:
  friend class scrape_hook;
  class impl;
  std::unique_ptr<impl> impl_;
};

} // namespace paceline
