/// The configuration as the program uses it: every value present, in range, and consistent with the
/// others. What each option means, its default and its bounds stand in `options.cpp` and in
/// docs/configuration.md; here are only the types. Members are named like their keys, durations
/// without `_ms`.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "config/logging.hpp"

namespace paceline {

enum class environment_kind { live, test };
enum class provider_kind { simulated, ses, smtp, batch };
enum class credentials_source { automatic, environment, file, container, instance };
enum class smtp_security { starttls, tls, none };

/// Whether calls to it reach people. A real provider belongs to live environments only.
bool is_real(provider_kind provider);

struct database_settings {
  std::string dsn;        ///< secret: show it through `mask_dsn`
  std::string direct_dsn; ///< secret; never empty, `dsn` unless configured
  bool prepared_statements{};
  std::chrono::milliseconds connect_timeout{};
  std::chrono::milliseconds statement_timeout{};
};

struct node_settings {
  std::string name; ///< empty: the host's name
  std::chrono::milliseconds drain_timeout{};
};

struct log_settings {
  log_level level{};
  log_format format{};
};

struct environment_settings {
  environment_kind kind{};
};

struct route_settings {
  std::int32_t shards{};
  provider_kind provider{};
  double rate_factor{};
  double target_rate{}; ///< recipients per second; 0: the provider's quota times `rate_factor`
  std::int32_t pool{};  ///< database connections per shard
  bool enable_live{};

  // Real providers
  std::string endpoint;           ///< URL; empty: the provider's own
  std::string ca_file;            ///< PEM; empty: the system's
  bool allow_private{};           ///< the endpoint may have a private or loopback address
  std::int32_t max_connections{}; ///< 0: the provider's default
  std::int32_t warm_connections{};
  std::chrono::milliseconds connect_timeout{};
  std::string aws_region; ///< empty: the route's region
  std::string configuration_set;
  credentials_source credentials{};
  std::string credentials_file, credentials_profile;
  smtp_security security{};
  std::string username;
  std::string secret;      ///< password or API key
  std::string secret_file; ///< in place of `secret`: its first line
  std::int32_t batch_size{};
};

struct dispatch_settings {
  std::chrono::milliseconds run{};
  std::int32_t reserve_batch{};
  std::int32_t max_group{};
  std::chrono::milliseconds group_window{};
  std::chrono::milliseconds call_timeout{};
  std::chrono::milliseconds interrupted_after{};
  std::chrono::milliseconds preflight_retry{};
  std::int32_t min_in_flight_per_shard{};
  std::int32_t max_in_flight_per_shard{};
  std::chrono::milliseconds throttle_backoff_first{};
  std::chrono::milliseconds throttle_backoff_max{};
  std::chrono::milliseconds brake{};
  std::chrono::milliseconds quota_cache{};
  std::int32_t max_outcomes_waiting{};
  std::chrono::milliseconds poll{};
};

struct cluster_settings {
  std::chrono::milliseconds lease{};
  std::chrono::milliseconds margin{};
  std::chrono::milliseconds renew{};
};

struct simulator_settings {
  std::chrono::duration<double, std::milli> latency{};
  double latency_jitter{};
  double rate{}; ///< recipients per second
  double tolerance{};
  std::int64_t daily_quota{}; ///< 0: unlimited
  std::string ledger;         ///< path; empty: none
  std::int64_t seed{};
};

struct expansion_settings {
  std::int32_t page{};
  std::chrono::milliseconds buffer{};
  std::int32_t buffer_min{};
  std::int32_t buffer_max{};
};

struct recording_settings {
  std::int32_t batch{};
  std::chrono::milliseconds delay{};
  std::int32_t connections{};
};

/// One HTTP listener.
struct listener_settings {
  std::string listen; ///< `address:port`; empty: not opened
  std::int32_t threads{};
  std::int32_t max_connections{};
  std::string tls_certificate, tls_key; ///< paths; both or neither
};

struct api_settings : listener_settings {
  std::int32_t database_connections{};
};

struct http_settings {
  std::int32_t max_body_bytes{};
  std::int32_t max_body_bytes_in_flight{};
  std::int32_t max_headers{};
  std::int32_t max_header_bytes{};
  std::chrono::milliseconds header_timeout{};
  std::chrono::milliseconds body_timeout{};
  std::chrono::milliseconds write_timeout{};
  std::chrono::milliseconds idle_timeout{};
};

/// One-click unsubscribe of campaign mail.
struct unsubscribe_settings {
  std::string base_url;          ///< https://...; empty: no links
  std::vector<std::string> keys; ///< secrets of 32 octets or more; the first signs, all are good
};

/// One line of `config check`: secrets are masked.
struct setting_row {
  std::string key;
  std::string value;
  std::string source; ///< `default`, `FILE:LINE`, `environment variable NAME` or `--set`
};

struct settings {
  database_settings database;
  node_settings node;
  log_settings log;
  std::map<std::string, environment_settings> environments; ///< by name
  std::map<std::string, route_settings> routes;             ///< by `environment:region`
  dispatch_settings dispatch;
  cluster_settings cluster;
  simulator_settings simulator;
  expansion_settings expansion;
  recording_settings recording;
  api_settings api;
  listener_settings feedback, admin;
  http_settings http;
  unsubscribe_settings unsubscribe;

  std::vector<std::string> warnings; ///< allowed, but perhaps not meant
  std::vector<setting_row> rows;     ///< every option in effect, in the order of the reference
};

/// One thing that is wrong, for whoever has to put it right.
struct config_error {
  std::string key;
  std::string value;   ///< as given, secrets masked; empty if there is none
  std::string allowed; ///< e.g. `integer from 1 to 1024`
  std::string source;  ///< as in `setting_row`; empty if nothing was given
  std::string advice;  ///< what is wrong and what to do, one sentence

  /// All of it on one line.
  std::string text() const;
};

/// Where values come from; later ones win: defaults, file, environment, overrides.
struct settings_sources {
  std::optional<std::filesystem::path> file; ///< TOML, at most 1 MiB; none: no file is read
  /// Variables of the process; only those that begin with `PACELINE_` are looked at.
  std::vector<std::pair<std::string, std::string>> environment;
  /// Pairs of `--set key=value`, in the order given.
  std::vector<std::pair<std::string, std::string>> overrides;
};

/// Reads, converts and checks everything: either settings that hold together, or all errors at
/// once. Opens nothing but the file; does not throw for bad input.
std::variant<settings, std::vector<config_error>> load_settings(const settings_sources& sources);

/// `environ` or the `envp` of `main` as pairs. `block` ends with a null pointer.
std::vector<std::pair<std::string, std::string>> environment_pairs(const char* const* block);

/// Defaults of everything that has one, and no environments or routes: where tests begin.
settings default_settings();

/// The defaults of one route.
route_settings default_route();

/// Connections a node that owns every shard holds: shards x pool of each route, the recorders, the
/// API's, two for control, and one each for background work and LISTEN.
std::int64_t connection_demand(const settings& from);

} // namespace paceline
