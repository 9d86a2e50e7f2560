#include "tools/paceline/program.hpp"

#include <filesystem>
#include <thread>

#include "config/text.hpp"
#include "storage/model/claim_horizon.hpp"
#include "storage/overview.hpp"
#include "storage/ownership.hpp"
#include "storage/schema.hpp"
#include "tools/paceline/output.hpp"

namespace paceline {

std::optional<std::string> default_config_file() {
  std::error_code ignored;
  for (const char* path : {"paceline.toml", "/etc/paceline/paceline.toml"})
    if (std::filesystem::exists(path, ignored))
      return path;
  return std::nullopt;
}

settings_sources program::sources() const {
  settings_sources from;
  if (!shared.config.empty())
    from.file = shared.config;
  else if (const auto file = default_config_file())
    from.file = *file;
  from.environment = environment_pairs(environment_);
  for (const auto& pair : shared.overrides) {
    const auto end = pair.find('=');
    from.overrides.emplace_back(pair.substr(0, end), pair.substr(end + 1));
  }
  return from;
}

std::variant<settings, std::vector<config_error>> program::read_configuration() const {
  return load_settings(sources());
}

std::optional<settings> program::configured() const {
  auto read = read_configuration();
  if (auto* values = std::get_if<settings>(&read))
    return std::move(*values);
  const auto& errors = std::get<std::vector<config_error>>(read);
  say("the configuration has " + counted(static_cast<std::int64_t>(errors.size()), "error") + ":");
  for (const auto& wrong : errors)
    say("  " + wrong.text());
  if (shared.config.empty() && !default_config_file())
    say("No file was read: name one with --config, or make ./paceline.toml.");
  return std::nullopt;
}

result<session*> program::open(const settings& with, const std::string& dsn) {
  connection_options options;
  options.dsn = dsn;
  options.prepared_statements = with.database.prepared_statements;
  options.connect_timeout = with.database.connect_timeout;
  options.statement_timeout = with.database.statement_timeout;
  options.application_name = "paceline-cli";
  connection_.reset();
  auto opened = single_connection::open(options, counts_);
  if (!opened)
    return opened.failure();
  connection_.emplace(std::move(*opened));
  return &connection_->use();
}

result<session*> program::connect(const settings& with) {
  auto opened = open(with, with.database.dsn);
  if (!opened)
    return opened;
  if (auto checked = check_schema(**opened); !checked)
    return checked.failure();
  return opened;
}

result<session*> program::connect_directly(const settings& with) {
  return open(with, with.database.direct_dsn);
}

result<route_id> find_route(session& on, const settings& with, const route_name& wanted) {
  if (const auto configured = with.routes.find(wanted.text()); configured != with.routes.end()) {
    auto seeded = seed_route(on, wanted, configured->second.shards);
    if (!seeded)
      return seeded.failure();
    return seeded->route;
  }
  const auto seen = read_overview(on);
  if (!seen)
    return seen.failure();
  std::string known;
  for (const auto& route : seen->routes) {
    if (route.name == wanted)
      return route.id;
    known += (known.empty() ? "" : ", ") + route.name.text();
  }
  for (const auto& [name, unused] : with.routes)
    if (known.find(name) == std::string::npos)
      known += (known.empty() ? "" : ", ") + name;
  return error{error_kind::not_found,
               "There is no route " + wanted.text() + ". "
                   + (known.empty() ? "Add a [routes.\"" + wanted.text() + "\"] section."
                                    : "Known routes: " + known + ".")};
}

result<std::string> find_environment(const settings& values, const std::string& named) {
  if (named.empty() && values.environments.size() == 1)
    return values.environments.begin()->first;
  if (values.environments.contains(named))
    return named;
  std::string known;
  for (const auto& [name, unused] : values.environments)
    known += (known.empty() ? "" : ", ") + name;
  return error{error_kind::invalid, named.empty() ? "Say which with --environment: " + known + "."
                                                  : "There is no environment " + printable(named)
                                                        + ". Configured: " + known + "."};
}

result<route_overview> find_known_route(session& on, const route_name& wanted) {
  auto seen = read_overview(on);
  if (!seen)
    return seen.failure();
  std::string known;
  for (auto& route : seen->routes) {
    if (route.name == wanted)
      return std::move(route);
    known += (known.empty() ? "" : ", ") + route.name.text();
  }
  return error{error_kind::not_found,
               "There is no route " + wanted.text() + " in the database. "
                   + (known.empty() ? "`paceline migrate` makes those of the configuration."
                                    : "Known routes: " + known + ".")};
}

void wait_for_claims() {
  std::this_thread::sleep_for(claim_horizon);
}

result<id_source> make_id_source(session& on) {
  auto lane = next_id_lane(on);
  if (!lane)
    return lane.failure();
  return id_source{*lane};
}

} // namespace paceline
