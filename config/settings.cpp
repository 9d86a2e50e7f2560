#include "config/settings.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <span>

#include "config/checks.hpp"
#include "config/file.hpp"
#include "config/nearest.hpp"
#include "config/options.hpp"
#include "config/text.hpp"
#include "config/values.hpp"

namespace paceline {
namespace {

constexpr std::string_view variable_prefix = "PACELINE_";
constexpr std::string_view default_source = "default";

void store_default(const option& which, std::string_view instance, settings& into) {
  auto value = convert(which, untyped_text{std::string{which.initial}});
  which.store(into, instance, std::get<option_value>(value));
}

const option_section* find_section(std::string_view name) {
  auto sections = all_sections();
  auto found = std::find_if(sections.begin(), sections.end(),
                            [name](const option_section& s) { return s.name == name; });
  return found == sections.end() ? nullptr : &*found;
}

const option* find_option(const std::vector<std::string>& path) {
  for (const auto& candidate : all_options()) {
    if (path.size() == (is_repeated(candidate) ? 3u : 2u) && section_of(candidate) == path.front()
        && name_of(candidate) == path.back())
      return &candidate;
  }
  return nullptr;
}

/// Collects values from all sources, then errors from all of them.
class loader {
public:
  std::variant<settings, std::vector<config_error>> load(const settings_sources& from) {
    if (from.file) {
      auto content = read_settings_file(*from.file);
      given_ = std::move(content.values);
      errors_ = std::move(content.errors);
    }
    bool file_was_read = errors_.empty();
    for (const auto& [name, value] : from.environment)
      take_variable(name, value);
    for (const auto& [key, value] : from.overrides)
      take_override(key, value);
    apply_defaults();
    for (const auto& setting : given_)
      apply(setting);
    // Without the file nearly everything would seem to be missing.
    if (file_was_read)
      judge_the_whole();
    if (!errors_.empty())
      return std::move(errors_);
    auto doubts = find_doubts(settings_);
    settings_.warnings.insert(settings_.warnings.end(), doubts.begin(), doubts.end());
    return std::move(settings_);
  }

private:
  struct origin {
    std::string value;
    std::string source;
  };

  void take_variable(const std::string& name, const std::string& value) {
    if (!name.starts_with(variable_prefix))
      return;
    auto source = "environment variable " + printable(name);
    std::vector<std::string> known;
    for (const auto& candidate : all_options()) {
      auto variable = environment_name(candidate);
      if (variable == name) {
        given_.push_back({*split_key(candidate.key), untyped_text{value}, source});
        return;
      }
      if (!variable.empty())
        known.push_back(std::move(variable));
    }
    if (name.starts_with("PACELINE_ROUTES__") || name.starts_with("PACELINE_ENVIRONMENTS__")) {
      report("", "", "", source, "environments and routes are set in the file or by --set");
      return;
    }
    auto meant = nearest(name, known);
    // Other programs may share the prefix; options always have the double underscore.
    if (meant.empty() && name.find("__") == std::string::npos)
      settings_.warnings.push_back(source + " is not a setting and was ignored");
    else
      report("", "", "", source, "unknown variable: " + suggestion(meant));
  }

  void take_override(const std::string& key, const std::string& value) {
    if (auto path = split_key(key))
      given_.push_back({std::move(*path), untyped_text{value}, "--set"});
    else
      report(printable(key), "", "section.name", "--set", "this is not a key");
  }

  /// Also learns the names of environments and routes, as whatever is set for one declares it.
  void apply_defaults() {
    for (const auto& setting : given_)
      if (auto section = find_section(setting.path.front());
          section && !section->placeholder.empty() && setting.path.size() >= 2)
        instances_[setting.path.front()].insert(setting.path[1]);
    for (const auto& each : all_options()) {
      for (const auto& instance : instances_of(each)) {
        origins_[key_of(each, instance)] = {std::string{each.initial}, std::string{default_source}};
        if (!each.is_required)
          store_default(each, instance, settings_);
      }
    }
    // An environment has no default at all, yet must exist for its routes to be judged.
    for (const auto& name : instances_["environments"])
      settings_.environments.try_emplace(name);
  }

  void apply(const raw_setting& given) {
    auto key = join_key(given.path);
    auto which = find_option(given.path);
    if (!which) {
      if (!is_empty_section(given))
        report_unknown(given, key);
      return;
    }
    auto shown = show(*which, given.value);
    auto value = convert(*which, given.value);
    if (auto refused = std::get_if<refused_value>(&value)) {
      failed_.insert(key);
      report(key, shown, allowed_values(*which), given.source, refused->advice);
      return;
    }
    which->store(settings_, given.path[1], std::get<option_value>(value));
    origins_[key] = {std::move(shown), given.source};
  }

  /// `[database]` or `[routes."test:sim"]` without anything in it is allowed.
  static bool is_empty_section(const raw_setting& given) {
    auto foreign = std::get_if<foreign_value>(&given.value);
    auto section = find_section(given.path.front());
    return foreign && foreign->kind == "table" && section
           && given.path.size() <= (section->placeholder.empty() ? 1u : 2u);
  }

  void report_unknown(const raw_setting& given, const std::string& key) {
    auto section = find_section(given.path.front());
    if (section && given.path.size() == 1) {
      report(key, "", "table", given.source, "this is a section: write [" + key + "]");
      return;
    }
    std::vector<std::string> known;
    for (const auto& candidate : all_options())
      known.push_back(key_of(candidate, given.path.size() == 3 ? join_key({given.path[1]})
                                                               : std::string{"NAME"}));
    // The value is not shown: it may be a secret under a misspelt name.
    report(key, "", "a known key", given.source, "unknown key: " + suggestion(nearest(key, known)));
  }

  static std::string suggestion(const std::string& meant) {
    return meant.empty() ? "docs/configuration.md lists all of them"
                         : "did you mean " + meant + "?";
  }

  void judge_the_whole() {
    for (const auto& each : all_options()) {
      for (const auto& instance : instances_of(each)) {
        auto key = key_of(each, instance);
        if (!each.is_required || origins_[key].source != default_source || failed_.contains(key))
          continue;
        failed_.insert(key);
        auto variable = environment_name(each);
        report(key, "", allowed_values(each), "",
               "required: set it in the file, " + (variable.empty() ? "" : "by " + variable + ", ")
                   + "or by --set " + key + "=...");
      }
    }
    if (settings_.database.direct_dsn.empty()) {
      settings_.database.direct_dsn = settings_.database.dsn;
      origins_["database.direct_dsn"].value = origins_["database.dsn"].value;
    }
    for (const auto& each : all_options())
      for (const auto& instance : instances_of(each)) {
        auto key = key_of(each, instance);
        settings_.rows.push_back({key, origins_[key].value, origins_[key].source});
      }
    auto broken = check_settings(settings_, failed_);
    errors_.insert(errors_.end(), broken.begin(), broken.end());
  }

  /// The names under which an option exists: for most one, the empty one.
  std::set<std::string> instances_of(const option& which) {
    if (is_repeated(which))
      return instances_[std::string{section_of(which)}];
    return {std::string{}};
  }

  void report(std::string key, std::string value, std::string allowed, std::string source,
              std::string advice) {
    errors_.push_back({std::move(key), std::move(value), std::move(allowed), std::move(source),
                       std::move(advice)});
  }

  settings settings_;
  std::vector<raw_setting> given_;                         ///< from all sources, the weakest first
  std::map<std::string, std::set<std::string>> instances_; ///< by section
  std::map<std::string, origin> origins_;                  ///< by key
  std::set<std::string> failed_;
  std::vector<config_error> errors_;
};

} // namespace

std::string config_error::text() const {
  std::string out = source.empty() ? "" : source + ": ";
  if (!key.empty())
    out += key;
  if (!value.empty())
    out += " = " + value;
  out += key.empty() && value.empty() ? "" : ": ";
  out += advice;
  // Most advice names the range already.
  if (!allowed.empty() && advice.find(allowed) == std::string::npos)
    out += " (allowed: " + allowed + ")";
  return out;
}

std::variant<settings, std::vector<config_error>> load_settings(const settings_sources& sources) {
  return loader{}.load(sources);
}

std::vector<std::pair<std::string, std::string>> environment_pairs(const char* const* block) {
  std::vector<std::pair<std::string, std::string>> out;
  for (; *block != nullptr; ++block) {
    std::string_view entry = *block;
    auto equals = entry.find('=');
    if (equals != std::string_view::npos)
      out.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return out;
}

settings default_settings() {
  settings out;
  for (const auto& each : all_options())
    if (!is_repeated(each) && !each.is_required)
      store_default(each, "", out);
  return out;
}

route_settings default_route() {
  settings out;
  for (const auto& each : all_options())
    if (section_of(each) == "routes")
      store_default(each, "route", out);
  return out.routes["route"];
}

std::int64_t connection_demand(const settings& from) {
  constexpr std::int64_t fixed = 4; // two for control, background, LISTEN
  const std::int64_t service = from.api.listen.empty() ? 0 : from.api.database_connections;
  return std::accumulate(from.routes.begin(), from.routes.end(),
                         fixed + from.recording.connections + service,
                         [](std::int64_t sum, const auto& route) {
                           return sum + std::int64_t{route.second.shards} * route.second.pool;
                         });
}

} // namespace paceline
