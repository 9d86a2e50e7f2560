#include "tools/benchmarks/figures.hpp"

#include <algorithm>
#include <cmath>

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

namespace paceline::bench {
namespace {

using json_writer = rapidjson::Writer<rapidjson::StringBuffer>;

std::string required_text(const figure& what) {
  if (!what.required)
    return {};
  return std::string{what.required->side == bound::at_least ? ">= " : "<= "}
         + number_text(what.required->value) + (what.required->of_ratio ? " x" : "");
}

std::string mark_of(const figure& what) {
  const auto met = what.is_met();
  return !met ? "" : *met ? "ok" : "MISSED";
}

void write_text(json_writer& out, const char* key, const std::string& text) {
  out.Key(key);
  out.String(text.c_str(), static_cast<rapidjson::SizeType>(text.size()));
}

void write_pairs(json_writer& out, const char* key,
                 const std::vector<std::pair<std::string, std::string>>& pairs) {
  out.Key(key);
  out.StartObject();
  for (const auto& [name, value] : pairs)
    write_text(out, name.c_str(), value);
  out.EndObject();
}

void write_number(json_writer& out, const char* key, std::optional<double> number) {
  out.Key(key);
  // JSON has no word for infinity; six digits are far below the noise of any run.
  if (!number || !std::isfinite(*number))
    out.Null();
  else
    out.Double(std::round(*number * 1e6) / 1e6);
}

void write_figure(json_writer& out, const figure& what) {
  out.StartObject();
  write_text(out, "name", what.name);
  write_text(out, "unit", what.unit);
  write_number(out, "min", what.runs.min);
  write_number(out, "median", what.runs.median);
  write_number(out, "max", what.runs.max);
  write_number(out, "floor", what.floor);
  write_number(out, "ratio", what.ratio());
  out.EndObject();
}

void write_report(json_writer& out, const bench_report& report, const environment& on) {
  out.StartObject();
  write_text(out, "bench", report.bench);
  write_text(out, "machine", on.machine);
  write_pairs(out, "versions", on.versions);
  write_pairs(out, "settings", report.settings);
  out.Key("runs");
  out.Int(report.runs);
  out.Key("figures");
  out.StartArray();
  for (const auto& what : report.figures)
    write_figure(out, what);
  out.EndArray();
  out.EndObject();
}

} // namespace

std::optional<double> figure::ratio() const {
  if (!floor || *floor == 0)
    return std::nullopt;
  return runs.median / *floor;
}

std::optional<bool> figure::is_met() const {
  if (!required)
    return std::nullopt;
  const bool is_least = required->side == bound::at_least;
  const double worst = is_least ? runs.min : runs.max;
  const auto judged =
      required->of_ratio ? ratio() : std::optional{required->every_run ? worst : runs.median};
  if (!judged)
    return false;
  return is_least ? *judged >= required->value : *judged <= required->value;
}

void samples::add(const std::string& name, const std::string& unit, double value,
                  std::optional<requirement> required) {
  auto found = std::find_if(all_.begin(), all_.end(),
                            [&name](const series& one) { return one.name == name; });
  if (found == all_.end())
    found = all_.insert(all_.end(), {name, unit, {}, required});
  found->values.push_back(value);
}

std::optional<spread> samples::of(const std::string& name) const {
  for (const auto& one : all_)
    if (one.name == name)
      return spread_of(one.values);
  return std::nullopt;
}

std::vector<figure> samples::figures() const {
  std::vector<figure> figures;
  for (const auto& one : all_)
    figures.push_back({one.name, one.unit, spread_of(one.values), std::nullopt, one.required});
  return figures;
}

std::string number_text(double number) {
  const double size = std::abs(number);
  return decimal(number, size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : size >= 1 ? 3 : 4);
}

std::string report_table(const bench_report& report, const environment& on, const terminal& shown) {
  std::string out = painted(shown, color::bold, report.bench) + "  (" + counted(report.runs, "run");
  for (const auto& [name, value] : report.settings)
    out += ", " + name + " " + value;
  out += ")\n";
  table rows{{{"FIGURE"},
              {"UNIT"},
              {"MIN", align::right},
              {"MEDIAN", align::right},
              {"MAX", align::right},
              {"FLOOR", align::right},
              {"RATIO", align::right},
              {"REQUIRED", align::right},
              {""}}};
  for (const auto& what : report.figures)
    rows.add({what.name, what.unit, number_text(what.runs.min), number_text(what.runs.median),
              number_text(what.runs.max), what.floor ? number_text(*what.floor) : "",
              what.ratio() ? number_text(*what.ratio()) : "", required_text(what), mark_of(what)});
  out += rows.text();
  for (const auto& failure : report.failures)
    out += painted(shown, color::red, "FAILED: " + failure) + "\n";
  out += "on " + on.machine;
  for (const auto& [name, version] : on.versions)
    out += "; " + name + " " + version;
  return out + "\n";
}

std::string reports_json(const std::vector<bench_report>& reports, const environment& on,
                         bool as_array) {
  rapidjson::StringBuffer buffer;
  json_writer out(buffer);
  if (as_array)
    out.StartArray();
  for (const auto& report : reports)
    write_report(out, report, on);
  if (as_array)
    out.EndArray();
  return std::string{buffer.GetString(), buffer.GetSize()} + "\n";
}

} // namespace paceline::bench
