#include "tools/paceline/live_changes.hpp"

#include <algorithm>
#include <map>

#include "config/options.hpp"

namespace paceline {
namespace {

bool is_named(const option& which, const std::string& key) {
  if (!is_repeated(which))
    return key == which.key;
  const auto section = std::string{section_of(which)} + ".";
  const auto name = "." + std::string{name_of(which)};
  return key.starts_with(section) && key.ends_with(name);
}

bool is_live(const std::string& key) {
  return std::ranges::any_of(
      all_options(), [&key](const option& each) { return each.is_live && is_named(each, key); });
}

std::map<std::string, std::string> values_of(const settings& from) {
  std::map<std::string, std::string> values;
  for (const auto& row : from.rows)
    values.emplace(row.key, row.value);
  return values;
}

/// What the masked rows can't show.
std::vector<std::string> changed_secrets(const settings& in_effect, const settings& read) {
  std::vector<std::string> keys;
  if (in_effect.database.dsn != read.database.dsn)
    keys.emplace_back("database.dsn");
  if (in_effect.database.direct_dsn != read.database.direct_dsn)
    keys.emplace_back("database.direct_dsn");
  return keys;
}

} // namespace

live_changes find_live_changes(const settings& in_effect, const settings& read) {
  auto before = values_of(in_effect), after = values_of(read);
  std::map<std::string, option_change> changed;
  for (const auto& [key, value] : before)
    if (const auto found = after.find(key); found == after.end() || found->second != value)
      changed[key] = {key, value, found == after.end() ? "" : found->second};
  for (const auto& [key, value] : after)
    if (!before.contains(key))
      changed[key] = {key, "", value};
  for (auto& key : changed_secrets(in_effect, read))
    changed.try_emplace(key, option_change{key, "", ""});
  live_changes all;
  for (auto& [key, change] : changed) {
    // A route that comes or goes is no change of its rate.
    if (before.contains(key) && after.contains(key) && is_live(key))
      all.live.push_back(std::move(change));
    else
      all.for_restart.push_back(key);
  }
  return all;
}

void take_live_values(settings& in_effect, const settings& read) {
  in_effect.log.level = read.log.level;
  for (auto& [name, route] : in_effect.routes)
    if (const auto found = read.routes.find(name); found != read.routes.end()) {
      route.rate_factor = found->second.rate_factor;
      route.target_rate = found->second.target_rate;
    }
  const auto values = values_of(read);
  for (auto& row : in_effect.rows)
    if (const auto found = values.find(row.key); found != values.end() && is_live(row.key))
      row.value = found->second;
}

} // namespace paceline
