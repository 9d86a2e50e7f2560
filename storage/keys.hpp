/// API keys: who may do what in which project and environment, and the project's own limits.
///
/// The row is the truth. A key's secret is shown once, when it is made; stored is its SHA-256.
/// All functions block on the session's connection and may be repeated after any error.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/model/ids.hpp"
#include "storage/model/instants.hpp"
#include "storage/pool.hpp"

namespace paceline {

/// What a key may do. `manage` includes send and read, `admin` everything.
enum class key_scope { send, read, manage, admin };
std::string_view name(key_scope scope);
std::optional<key_scope> parse_scope(std::string_view name);

struct api_key {
  key_id id;
  project_id project;
  std::string project_name, environment, name;
  std::vector<key_scope> scopes;
  std::array<std::uint8_t, 32> secret_hash{};
  bool is_valid = false;                 ///< neither revoked nor expired, when it was read
  std::optional<nanoseconds> expires_in; ///< remaining, for a valid key that expires
  std::optional<std::int32_t> limit_per_minute;
  std::vector<std::string> sender_domains; ///< the project's; empty: any
  std::int64_t max_outstanding = 0;        ///< the project's, per environment
  /// ISO 8601 UTC, empty if none.
  std::string created_at, expires_at, revoked_at, last_used_at;

  bool may(key_scope scope) const;
};

struct new_key {
  std::string project = "default", environment, name;
  std::vector<key_scope> scopes;
  std::array<std::uint8_t, 32> secret_hash{};
  std::optional<nanoseconds> expires_in;
  std::optional<std::int32_t> limit_per_minute;
};

/// Error `not_found` for the project; `refused` where two valid keys of that name exist already
/// (one to use and one to change to).
result<key_id> create_key(session&, id_source&, const new_key&, std::string_view actor);

/// Error `not_found`.
result<api_key> find_key(session&, key_id);
/// Oldest first, at most 1,000; of one project or of all.
result<std::vector<api_key>> list_keys(session&, std::optional<project_id> only);

/// Revokes: from the commit on no claim takes a message of the key, and no request is let in.
/// Waits for claims that hold the key. What is queued becomes canceled (KEY_REVOKED) when it is
/// due. Already revoked is fine. Messages claimed before may start until the claim horizon.
result<done> revoke_key(session&, key_id, std::string_view actor);
/// Ends a key without touching what it has queued: it expires now.
result<done> expire_key(session&, key_id, std::string_view actor);

/// Notes uses, for people; at most 1,000 ids.
result<done> touch_keys(session&, const std::vector<key_id>&);

struct project {
  project_id id;
  std::string name, created_at;
  std::vector<std::string> sender_domains;
  std::int64_t max_outstanding = 0;
};
result<std::vector<project>> list_projects(session&);
/// Error `refused` where it exists.
result<project_id> create_project(session&, id_source&, std::string_view name,
                                  std::string_view actor);
/// Changes what is given. Error `not_found`.
result<done> change_project(session&, std::string_view name,
                            const std::optional<std::vector<std::string>>& sender_domains,
                            const std::optional<std::int64_t>& max_outstanding,
                            std::string_view actor);

/// Open and not yet expanded messages of a project in an environment: what counts against
/// `max_outstanding`. A sum of counters; no look at messages.
result<std::int64_t> outstanding_messages(session&, project_id, std::string_view environment);

} // namespace paceline
