/// What a bench found out, for people as a table and for programs as JSON. Pure.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/benchmarks/statistics.hpp"
#include "tools/paceline/output.hpp"

namespace paceline::bench {

enum class bound { at_least, at_most };

/// What a figure's median has to reach, or every run: a promise holds always, a rate mostly.
struct requirement {
  bound side = bound::at_least;
  double value = 0;
  /// Of the ratio to the floor, not of the figure itself.
  bool of_ratio = false;
  bool every_run = false; ///< not with of_ratio
};

struct figure {
  std::string name;
  std::string unit; ///< empty for a plain number
  spread runs;
  std::optional<double> floor = std::nullopt; ///< the least work that would do the same
  std::optional<requirement> required = std::nullopt;

  /// The median over the floor.
  std::optional<double> ratio() const;
  /// Nothing where nothing is required.
  std::optional<bool> is_met() const;
};

/// A value per run, by name, in the order of the first appearance.
class samples {
public:
  void add(const std::string& name, const std::string& unit, double value,
           std::optional<requirement> required = std::nullopt);
  /// Nothing where there is no such name.
  std::optional<spread> of(const std::string& name) const;
  std::vector<figure> figures() const;

private:
  struct series {
    std::string name, unit;
    std::vector<double> values;
    std::optional<requirement> required;
  };
  std::vector<series> all_;
};

struct bench_report {
  std::string bench;
  int runs = 0;
  std::vector<std::pair<std::string, std::string>> settings;
  std::vector<figure> figures;
  /// Why a run failed, apart from slow figures; empty if all was well.
  std::vector<std::string> failures;
};

/// Where it ran, and with what.
struct environment {
  std::string machine;
  std::vector<std::pair<std::string, std::string>> versions;
};

/// Three or more significant digits, no trailing zeros.
std::string number_text(double number);

std::string report_table(const bench_report& report, const environment& on, const terminal& shown);

/// One object per report with the keys bench, machine, versions, settings, runs, figures; an array
/// of them if `as_array`.
std::string reports_json(const std::vector<bench_report>& reports, const environment& on,
                         bool as_array);

} // namespace paceline::bench
