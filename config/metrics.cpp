#include "config/metrics.hpp"

#include <cassert>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

namespace paceline {
namespace {

constexpr std::size_t longest_value = 100;
constexpr std::string_view beyond_the_bound = "other";

/// The values as one key; a NUL can't be in any of them.
std::string key_of(metrics::label_values values) {
  std::string key;
  for (auto value : values)
    key.append(value.substr(0, std::min(value.find('\0'), longest_value))).push_back('\0');
  return key;
}

prometheus::Labels labels_of(const metric_family& family, std::string_view key) {
  prometheus::Labels labels;
  for (auto name : {family.labels.first, family.labels.second}) {
    if (name.empty())
      continue;
    auto end = key.find('\0');
    labels.emplace(name, key.substr(0, end));
    key.remove_prefix(end + 1);
  }
  return labels;
}

/// The series of one family, by their label values.
template <class Series>
class bounded_family {
public:
  bounded_family(prometheus::Family<Series>& made, const metric_family& declared)
      : made_(made), declared_(declared) {}

  /// `make` arguments of a new series.
  template <class... Args>
  Series& of(metrics::label_values values, const Args&... make) {
    assert(values.size() == declared_.labels.count());
    auto key = key_of(values);
    if (auto known = series_.find(key); known != series_.end())
      return *known->second;
    // The last place is kept for all the rest.
    if (series_.size() + 1 >= metric_family::max_series) {
      auto rest = std::string{beyond_the_bound} + '\0';
      key = declared_.labels.count() == 2 ? rest + rest : rest;
      if (auto known = series_.find(key); known != series_.end())
        return *known->second;
    }
    auto& added = made_.Add(labels_of(declared_, key), make...);
    series_.emplace(std::move(key), &added);
    return added;
  }

private:
  prometheus::Family<Series>& made_;
  const metric_family declared_;
  std::unordered_map<std::string, Series*> series_;
};

} // namespace

// Instruments -----------------------------------------------------------------

void counter::add(double amount) const {
  if (series_)
    series_->Increment(amount);
}

void counter::raise_to(double total) const {
  if (series_)
    series_->Increment(total - series_->Value());
}

double counter::value() const {
  return series_ ? series_->Value() : 0;
}

void gauge::set(double value) const {
  if (series_)
    series_->Set(value);
}

void gauge::add(double difference) const {
  if (series_)
    series_->Increment(difference);
}

double gauge::value() const {
  return series_ ? series_->Value() : 0;
}

void histogram::observe(double value) const {
  if (series_)
    series_->Observe(value);
}

void histogram::observe(std::chrono::nanoseconds duration) const {
  observe(std::chrono::duration<double>(duration).count());
}

gauge_part::gauge_part(gauge_part&& other) noexcept
    : of_(other.of_), part_(std::exchange(other.part_, 0)) {}

gauge_part& gauge_part::operator=(gauge_part&& other) noexcept {
  if (this != &other) {
    set(0);
    of_ = other.of_;
    part_ = std::exchange(other.part_, 0);
  }
  return *this;
}

void gauge_part::set(double part) {
  if (part != part_)
    of_.add(part - part_);
  part_ = part;
}

// The registry ----------------------------------------------------------------

class metrics::impl {
public:
  template <class Series, class... Args>
  Series* series_of(const metric_family& family, label_values values, const Args&... make) {
    std::lock_guard lock{making_};
    auto& families = families_of(static_cast<Series*>(nullptr));
    auto known = families.find(family.name);
    if (known == families.end()) {
      prometheus::detail::Builder<Series> builder;
      auto& made = builder.Name(std::string{family.name})
                       .Help(std::string{family.meaning})
                       .Register(registry_);
      known = families.try_emplace(family.name, made, family).first;
    }
    return &known->second.of(values, make...);
  }

  std::size_t add_hook(std::function<void()> sample) {
    std::lock_guard lock{scraping_};
    hooks_.emplace(++last_hook_, std::move(sample));
    return last_hook_;
  }

  void remove_hook(std::size_t number) {
    std::lock_guard lock{scraping_};
    hooks_.erase(number);
  }

  std::string exposition() {
    std::lock_guard lock{scraping_};
    for (const auto& [number, sample] : hooks_)
      sample();
    return prometheus::TextSerializer{}.Serialize(registry_.Collect());
  }

private:
  template <class Series>
  using families = std::map<std::string_view, bounded_family<Series>>;
  auto& families_of(prometheus::Counter*) { return counters_; }
  auto& families_of(prometheus::Gauge*) { return gauges_; }
  auto& families_of(prometheus::Histogram*) { return histograms_; }

  prometheus::Registry registry_;
  std::mutex making_;
  families<prometheus::Counter> counters_;
  families<prometheus::Gauge> gauges_;
  families<prometheus::Histogram> histograms_;
  std::mutex scraping_; ///< held while hooks run; they may take `making_`, never the other way
  std::map<std::size_t, std::function<void()>> hooks_;
  std::size_t last_hook_ = 0;
};

metrics::metrics() : impl_(std::make_unique<impl>()) {}
metrics::~metrics() = default;

counter metrics::get(const counter_family& family, label_values values) {
  return counter{impl_->series_of<prometheus::Counter>(family, values)};
}

gauge metrics::get(const gauge_family& family, label_values values) {
  return gauge{impl_->series_of<prometheus::Gauge>(family, values)};
}

histogram metrics::get(const histogram_family& family, label_values values) {
  prometheus::Histogram::BucketBoundaries buckets(family.buckets.begin(), family.buckets.end());
  return histogram{impl_->series_of<prometheus::Histogram>(family, values, buckets)};
}

scrape_hook metrics::on_scrape(std::function<void()> sample) {
  return {this, impl_->add_hook(std::move(sample))};
}

std::string metrics::exposition() const {
  return impl_->exposition();
}

scrape_hook::scrape_hook(scrape_hook&& other) noexcept
    : of_(std::exchange(other.of_, nullptr)), number_(other.number_) {}

scrape_hook& scrape_hook::operator=(scrape_hook&& other) noexcept {
  if (this != &other) {
    release();
    of_ = std::exchange(other.of_, nullptr);
    number_ = other.number_;
  }
  return *this;
}

scrape_hook::~scrape_hook() {
  release();
}

void scrape_hook::release() {
  if (of_)
    of_->impl_->remove_hook(number_);
  of_ = nullptr;
}

} // namespace paceline
