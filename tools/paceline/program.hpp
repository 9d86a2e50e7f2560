/// What every subcommand needs: the options that all share, the configuration, one database
/// connection. Owned by `main`, used by its only thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "config/settings.hpp"
#include "storage/campaigns.hpp"
#include "storage/model/ids.hpp"
#include "storage/overview.hpp"
#include "storage/pool.hpp"
#include "storage/result.hpp"
#include "tools/paceline/output.hpp"

namespace paceline {

/// Options in front of or behind every subcommand.
struct shared_options {
  std::string config; ///< empty: ./paceline.toml, /etc/paceline/paceline.toml, or no file
  std::vector<std::string> overrides; ///< `key=value`
};

class program {
public:
  explicit program(const char* const* environment) : environment_(environment) {}
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  shared_options shared;
  /// Set by the callback of the subcommand that was given; returns the exit status.
  std::function<int()> chosen;

  /// Everything read and checked, or all that is wrong with it.
  std::variant<settings, std::vector<config_error>> read_configuration() const;
  /// The same for most commands: says what is wrong and returns nothing. Warnings stay for
  /// `config check` and `serve`.
  std::optional<settings> configured() const;

  /// A connection that is ready to work: opened, and with the schema of this program. Replaces the
  /// one before, which must no longer be in use.
  result<session*> connect(const settings& with);
  /// Without a look at the schema, past any pooler: for `migrate` and `config check`.
  result<session*> connect_directly(const settings& with);

private:
  settings_sources sources() const;
  result<session*> open(const settings& with, const std::string& dsn);

  const char* const* environment_;
  statement_counts counts_;
  std::optional<single_connection> connection_;
};

/// Reads the configuration, connects, and runs `work(session&)` or `work(session&, settings)` for
/// the exit status. Where that fails it says why.
template <class F>
int with_session(program& with, F&& work) {
  const auto values = with.configured();
  if (!values)
    return exit_wrong_use;
  auto on = with.connect(*values);
  if (!on)
    return say_error(on.failure());
  if constexpr (std::is_invocable_v<F&, session&, const settings&>)
    return work(**on, *values);
  else
    return work(**on);
}

/// The file that is read where `--config` was not given.
std::optional<std::string> default_config_file();

/// The route with that name: made if the configuration has it and the database doesn't. Error
/// `not_found` names those that there are.
result<route_id> find_route(session& on, const settings& with, const route_name& wanted);

/// The environment that was named, or the only one there is. Error `invalid` names those that are
/// configured.
result<std::string> find_environment(const settings& values, const std::string& named);

/// The one that an operator wrote, which must exist in the database. Error `not_found` names those
/// that there are.
result<route_overview> find_known_route(session& on, const route_name& wanted);

/// Returns when no claim older than what was just committed can start a call: the claim horizon.
void wait_for_claims();

/// A fresh source of ids for one command.
result<id_source> make_id_source(session& on);

/// Who counts what the program itself changes; nodes count under their own numbers from 1 on.
constexpr std::int32_t operator_writer = 0;

} // namespace paceline
