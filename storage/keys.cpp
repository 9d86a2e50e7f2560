#include "storage/keys.hpp"

#include <algorithm>
#include <chrono>

#include "storage/audit.hpp"
#include "storage/session.hpp"
#include "storage/sql/queries.hpp"
#include "storage/wall_clock.hpp"

namespace paceline {
namespace {

using std::chrono::duration_cast;
using std::chrono::microseconds;

constexpr std::int64_t most_valid = 2; // one to use and one to change to
constexpr std::int32_t most_listed = 1000;
constexpr std::size_t most_touched = 1000;

struct scope_name {
  key_scope scope;
  std::string_view name;
};
constexpr scope_name scope_names[] = {{key_scope::send, "send"},
                                      {key_scope::read, "read"},
                                      {key_scope::manage, "manage"},
                                      {key_scope::admin, "admin"}};

std::uint8_t digit_of(char c) {
  return static_cast<std::uint8_t>(c <= '9' ? c - '0' : c - 'a' + 10);
}

std::array<std::uint8_t, 32> read_hash(std::string_view hex) {
  std::array<std::uint8_t, 32> bytes{};
  for (std::size_t i = 0; i < bytes.size() && 2 * i + 1 < hex.size(); ++i)
    bytes[i] = static_cast<std::uint8_t>(digit_of(hex[2 * i]) << 4 | digit_of(hex[2 * i + 1]));
  return bytes;
}

std::vector<key_scope> read_scopes(const char* literal) {
  std::vector<key_scope> scopes;
  for (const auto& text : parse_text_array(literal))
    if (const auto scope = parse_scope(text))
      scopes.push_back(*scope);
  return scopes;
}

api_key read_key(const pqxx::row& row) {
  api_key key;
  key.id = key_id{row["id"].as<std::int64_t>()};
  key.project = project_id{row["project"].as<std::int64_t>()};
  key.project_name = row["project_name"].c_str();
  key.environment = row["environment"].c_str();
  key.name = row["name"].c_str();
  key.scopes = read_scopes(row["scopes"].c_str());
  key.secret_hash = read_hash(row["secret_hash"].c_str());
  key.is_valid = row["is_valid"].as<bool>();
  if (key.is_valid && !row["expires_in_us"].is_null())
    key.expires_in = microseconds{row["expires_in_us"].as<std::int64_t>()};
  if (!row["limit_per_minute"].is_null())
    key.limit_per_minute = row["limit_per_minute"].as<std::int32_t>();
  key.sender_domains = parse_text_array(row["sender_domains"].c_str());
  key.max_outstanding = row["max_outstanding"].as<std::int64_t>();
  // libpqxx gives an empty text for NULL, which is what the struct promises.
  key.created_at = row["created_at"].c_str();
  key.expires_at = row["expires_at"].c_str();
  key.revoked_at = row["revoked_at"].c_str();
  key.last_used_at = row["last_used_at"].c_str();
  return key;
}

result<std::vector<api_key>> find_keys(session& on, std::optional<key_id> key,
                                       std::optional<project_id> project, std::int32_t limit) {
  const auto rows = on.run(sql::find_keys, key, project, limit);
  if (!rows)
    return rows.failure();
  std::vector<api_key> keys;
  for (const auto& row : *rows)
    keys.push_back(read_key(row));
  return keys;
}

error no_such_key(key_id key) {
  return {error_kind::not_found, "there is no key " + std::to_string(key.value())};
}

error no_such_project(std::string_view name) {
  return {error_kind::not_found, "project: there is none named '" + std::string{name} + "'"};
}

result<done> insert_key(session& open, key_id id, project_id project, const new_key& key) {
  std::vector<std::string_view> scopes;
  for (const auto scope : key.scopes)
    scopes.push_back(name(scope));
  std::optional<std::int64_t> expires_us;
  if (key.expires_in)
    expires_us = duration_cast<microseconds>(*key.expires_in).count();
  const auto inserted =
      open.run(sql::insert_key, id, project, key.environment, key.name, text_array_literal(scopes),
               bytea_literal(key.secret_hash), expires_us, key.limit_per_minute);
  if (!inserted)
    return inserted.failure();
  return done{};
}

result<key_id> create_in(session& open, id_source& ids, const new_key& key,
                         std::string_view actor) {
  const auto locked = open.run(sql::lock_project, key.project);
  if (!locked)
    return locked.failure();
  if (locked->empty())
    return no_such_project(key.project);
  const project_id project{(*locked)[0][0].as<std::int64_t>()};
  const auto equal = open.run(sql::find_equal_key, project, key.environment, key.name,
                              bytea_literal(key.secret_hash));
  if (!equal)
    return equal.failure();
  const auto row = (*equal)[0];
  if (!row["same"].is_null())
    return key_id{row["same"].as<std::int64_t>()};
  if (row["valid"].as<std::int64_t>() >= most_valid)
    return error{error_kind::refused, "name: two valid keys named '" + key.name
                                          + "' exist already: revoke one of them first"};
  const key_id id{ids.next(wall_clock_ms())};
  if (auto inserted = insert_key(open, id, project, key); !inserted)
    return inserted.failure();
  // Names and environments have no characters that JSON would mind.
  const auto detail =
      R"({"name":")" + key.name + R"(","environment":")" + key.environment + R"("})";
  if (auto noted = write_audit(open, actor, "key.create", std::to_string(id.value()), detail);
      !noted)
    return noted.failure();
  return id;
}

} // namespace

std::string_view name(key_scope scope) {
  return scope_names[static_cast<std::size_t>(scope)].name;
}

std::optional<key_scope> parse_scope(std::string_view name) {
  for (const auto& row : scope_names)
    if (row.name == name)
      return row.scope;
  return std::nullopt;
}

bool api_key::may(key_scope scope) const {
  const auto has = [this](key_scope wanted) {
    return std::ranges::find(scopes, wanted) != scopes.end();
  };
  if (has(scope) || has(key_scope::admin))
    return true;
  return has(key_scope::manage) && (scope == key_scope::send || scope == key_scope::read);
}

result<key_id> create_key(session& on, id_source& ids, const new_key& key, std::string_view actor) {
  return on.in_transaction([&](session& open) { return create_in(open, ids, key, actor); });
}

result<api_key> find_key(session& on, key_id key) {
  auto found = find_keys(on, key, std::nullopt, 1);
  if (!found)
    return found.failure();
  if (found->empty())
    return no_such_key(key);
  return std::move(found->front());
}

result<std::vector<api_key>> list_keys(session& on, std::optional<project_id> only) {
  return find_keys(on, std::nullopt, only, most_listed);
}

result<done> revoke_key(session& on, key_id key, std::string_view actor) {
  return on.in_transaction([&](session& open) -> result<done> {
    const auto locked = open.run(sql::lock_key, key);
    if (!locked)
      return locked.failure();
    if (locked->empty())
      return no_such_key(key);
    if ((*locked)[0][0].as<bool>())
      return done{};
    if (const auto revoked = open.run(sql::revoke_key, key); !revoked)
      return revoked.failure();
    return write_audit(open, actor, "key.revoke", std::to_string(key.value()));
  });
}

result<done> expire_key(session& on, key_id key, std::string_view actor) {
  return on.in_transaction([&](session& open) -> result<done> {
    const auto expired = open.run(sql::expire_key, key);
    if (!expired)
      return expired.failure();
    if (expired->empty())
      return no_such_key(key);
    if (!(*expired)[0][0].as<bool>())
      return done{};
    return write_audit(open, actor, "key.expire", std::to_string(key.value()));
  });
}

result<done> touch_keys(session& on, const std::vector<key_id>& keys) {
  if (keys.size() > most_touched)
    return error{error_kind::invalid, "keys: at most 1000 at once"};
  const auto touched = on.run(sql::touch_keys, array_literal(keys));
  if (!touched)
    return touched.failure();
  return done{};
}

result<std::vector<project>> list_projects(session& on) {
  const auto rows = on.run(sql::list_projects);
  if (!rows)
    return rows.failure();
  std::vector<project> projects;
  for (const auto& row : *rows) {
    project one;
    one.id = project_id{row["id"].as<std::int64_t>()};
    one.name = row["name"].c_str();
    one.created_at = row["created_at"].c_str();
    one.sender_domains = parse_text_array(row["sender_domains"].c_str());
    one.max_outstanding = row["max_outstanding"].as<std::int64_t>();
    projects.push_back(std::move(one));
  }
  return projects;
}

result<project_id> create_project(session& on, id_source& ids, std::string_view name,
                                  std::string_view actor) {
  return on.in_transaction([&](session& open) -> result<project_id> {
    const project_id id{ids.next(wall_clock_ms())};
    const auto made = open.run(sql::insert_project, id, name);
    if (!made && made.failure().kind == error_kind::data)
      return error{error_kind::invalid, "name: 1 to 63 of a-z, 0-9 and - are allowed, beginning "
                                        "with a letter or digit"};
    if (!made)
      return made.failure();
    if (made->empty())
      return error{error_kind::refused, "name: project '" + std::string{name} + "' exists already"};
    if (auto noted = write_audit(open, actor, "project.create", name); !noted)
      return noted.failure();
    return id;
  });
}

result<done> change_project(session& on, std::string_view name,
                            const std::optional<std::vector<std::string>>& sender_domains,
                            const std::optional<std::int64_t>& max_outstanding,
                            std::string_view actor) {
  std::optional<std::string> domains;
  if (sender_domains)
    domains = text_array_literal(*sender_domains);
  return on.in_transaction([&](session& open) -> result<done> {
    const auto changed = open.run(sql::change_project, name, domains, max_outstanding);
    if (!changed)
      return changed.failure();
    if (changed->empty())
      return no_such_project(name);
    return write_audit(open, actor, "project.change", name, (*changed)[0][0].c_str());
  });
}

result<std::int64_t> outstanding_messages(session& on, project_id project,
                                          std::string_view environment) {
  const auto rows = on.run(sql::outstanding_messages, project, environment);
  if (!rows)
    return rows.failure();
  return (*rows)[0][0].as<std::int64_t>();
}

} // namespace paceline
