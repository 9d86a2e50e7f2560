#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstring>
#include <memory>

#include <sys/random.h>

#include "config/text.hpp"
#include "storage/keys.hpp"
#include "tools/paceline/arguments.hpp"
#include "tools/paceline/commands.hpp"
#include "tools/paceline/json.hpp"
#include "tools/paceline/operator_name.hpp"
#include "tools/paceline/output.hpp"
#include "tools/paceline/program.hpp"
#include "transport/api/token.hpp"

namespace paceline {
namespace {

struct key_options {
  std::string id, project = "default", environment, name, expires_in;
  std::vector<std::string> scopes{"send", "read"};
  std::optional<std::int32_t> limit;
  bool keep_queued = false, all = false, as_json = false;
};
using shared_key_options = std::shared_ptr<key_options>;

std::string is_scope(const std::string& text) {
  return parse_scope(text)
             ? std::string{}
             : "'" + printable(text) + "' is no scope: one of send, read, manage, admin";
}

std::string is_name(const std::string& text) {
  const bool fits =
      !text.empty() && text.size() <= 63 && text.front() != '-'
      && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
  return fits ? std::string{} : "1 to 63 of a-z, 0-9 and -, not - first";
}

std::string scopes_text(const api_key& key) {
  std::string all;
  for (const auto scope : key.scopes)
    all.append(all.empty() ? "" : ",").append(name(scope));
  return all;
}

std::string state_of(const api_key& key) {
  return key.is_valid ? "valid" : key.revoked_at.empty() ? "expired" : "revoked";
}

/// 256 bits of the system's randomness.
result<token_secret> make_secret() {
  token_secret secret{};
  if (::getrandom(secret.data(), secret.size(), 0) != static_cast<ssize_t>(secret.size()))
    return error{error_kind::internal,
                 std::string{"no random numbers from the system: "} + std::strerror(errno)};
  return secret;
}

/// What was given, without the secret.
result<new_key> key_of(const key_options& options, const settings& values) {
  new_key key;
  key.project = options.project;
  key.name = options.name;
  auto environment = find_environment(values, options.environment);
  if (!environment)
    return environment.failure();
  key.environment = std::move(*environment);
  for (const auto& scope : options.scopes) {
    const auto parsed = *parse_scope(scope);
    if (std::ranges::find(key.scopes, parsed) == key.scopes.end())
      key.scopes.push_back(parsed);
  }
  if (!options.expires_in.empty()) {
    const auto expires_in = parse_duration(options.expires_in);
    if (!expires_in)
      return error{error_kind::invalid, "--expires-in: " + expires_in.failure().text};
    key.expires_in = *expires_in;
  }
  key.limit_per_minute = options.limit;
  return key;
}

void print_created(const key_options& options, const new_key& key, key_id id,
                   const std::string& token) {
  if (options.as_json) {
    json_text out;
    out.begin_object().id("key", id).member("name", key.name).member("project", key.project);
    print(out.member("environment", key.environment).member("token", token).end_object().line());
    return;
  }
  print(token + "\n");
  say("this is the token of key " + std::to_string(id.value()) + " (" + key.name + ", "
      + key.environment + "); it is shown this once and can't be read back");
}

int run_create(session& on, const settings& values, const key_options& options) {
  auto key = key_of(options, values);
  if (!key)
    return say_wrong_use(key.failure().text, "keys create");
  const auto secret = make_secret();
  if (!secret)
    return say_error(secret.failure());
  key->secret_hash = hash_secret(*secret);
  auto ids = make_id_source(on);
  if (!ids)
    return say_error(ids.failure());
  const auto created = create_key(on, *ids, *key, operator_name());
  if (!created)
    return say_error(created.failure());
  print_created(options, *key, *created, make_token(*created, *secret));
  return exit_fine;
}

std::string list_json(const std::vector<api_key>& keys) {
  json_text out;
  out.begin_array();
  for (const auto& key : keys) {
    out.begin_object().id("key", key.id).member("name", key.name);
    out.member("project", key.project_name).member("environment", key.environment);
    out.key("scopes").begin_array();
    for (const auto scope : key.scopes)
      out.value(name(scope));
    out.end_array().member("state", state_of(key)).key("limit_per_minute");
    key.limit_per_minute ? out.value(*key.limit_per_minute) : out.null();
    out.text_or_null("created_at", key.created_at).text_or_null("expires_at", key.expires_at);
    out.text_or_null("revoked_at", key.revoked_at);
    out.text_or_null("last_used_at", key.last_used_at).end_object();
  }
  return out.end_array().line();
}

std::string list_text(const std::vector<api_key>& keys) {
  table rows{{{"KEY"},
              {"NAME"},
              {"PROJECT"},
              {"ENVIRONMENT"},
              {"SCOPES"},
              {"STATE"},
              {"LIMIT", align::right},
              {"CREATED"},
              {"EXPIRES"},
              {"LAST USED"}}};
  for (const auto& key : keys)
    rows.add({std::to_string(key.id.value()), key.name, key.project_name, key.environment,
              scopes_text(key), state_of(key),
              key.limit_per_minute ? grouped(*key.limit_per_minute) + "/min" : "", key.created_at,
              key.expires_at, key.last_used_at});
  return rows.is_empty() ? "There is no such key: `paceline keys create` makes one.\n"
                         : rows.text();
}

int run_list(session& on, const key_options& options) {
  auto keys = list_keys(on, std::nullopt);
  if (!keys)
    return say_error(keys.failure());
  std::erase_if(*keys, [&options](const api_key& key) {
    return (!options.all && !key.is_valid)
           || (!options.project.empty() && key.project_name != options.project)
           || (!options.environment.empty() && key.environment != options.environment);
  });
  print(options.as_json ? list_json(*keys) : list_text(*keys));
  return exit_fine;
}

int run_revoke(session& on, const key_options& options, key_id which) {
  const auto ended = options.keep_queued ? expire_key(on, which, operator_name())
                                         : revoke_key(on, which, operator_name());
  if (!ended)
    return say_error(ended.failure());
  if (!options.keep_queued)
    wait_for_claims();
  const auto key = find_key(on, which);
  if (!key)
    return say_error(key.failure());
  if (options.as_json) {
    json_text out;
    out.begin_object().id("key", which).member("state", state_of(*key));
    print(out.end_object().line());
  } else {
    print("Key " + options.id + " (" + key->name + ") "
          + (options.keep_queued ? "has ended; what it has queued is still sent.\n"
                                 : "is revoked: nothing of it starts any more; what it has queued "
                                   "becomes canceled.\n"));
  }
  return exit_fine;
}

void add_create(CLI::App& keys, program& with) {
  const auto options = std::make_shared<key_options>();
  auto* const create = keys.add_subcommand("create", "Make a key and print its token, once");
  create
      ->add_option("--name", options->name,
                   "What it is for, such as shop; two valid keys may "
                   "have one name, so that one can follow the other")
      ->required()
      ->check(is_name);
  create->add_option("--project", options->project, "Whose messages it sends")
      ->capture_default_str();
  create->add_option("--environment", options->environment,
                     "Where; may be left out where there is only one");
  create
      ->add_option("--scope", options->scopes,
                   "send, read, manage (both, campaigns, suppressions) or admin (all)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str()
      ->check(is_scope);
  create->add_option("--expires-in", options->expires_in, "End it after this time, such as 90d")
      ->type_name("DURATION");
  create->add_option("--limit", options->limit, "So many messages a minute at most")
      ->check(CLI::Range(1, 2'000'000'000));
  create->add_flag("--json", options->as_json, "Print JSON");
  create->footer("The token goes to standard output alone; only its hash is stored.\n"
                 "\n"
                 "Examples:\n"
                 "  paceline keys create --name shop --environment test\n"
                 "  paceline keys create --name ci --scope send --expires-in 90d --limit 600\n"
                 "  paceline keys create --name shop --json | jq -r .token > shop.token");
  create->callback([&with, options] {
    with.chosen = [&with, options] {
      return with_session(with, [&options](session& on, const settings& values) {
        return run_create(on, values, *options);
      });
    };
  });
}

void add_list(CLI::App& keys, program& with) {
  const auto options = std::make_shared<key_options>();
  options->project.clear();
  auto* const list = keys.add_subcommand("list", "Keys that are valid, with their last use");
  list->add_option("--project", options->project, "Only of this project");
  list->add_option("--environment", options->environment, "Only of this environment");
  list->add_flag("--all", options->all, "Also those that have expired or are revoked");
  list->add_flag("--json", options->as_json, "Print JSON");
  list->footer("Examples:\n"
               "  paceline keys list\n"
               "  paceline keys list --all --json | jq -r '.[] | select(.last_used_at == null)'");
  list->callback([&with, options] {
    with.chosen = [&with, options] {
      return with_session(with, [&options](session& on) { return run_list(on, *options); });
    };
  });
}

void add_revoke(CLI::App& keys, program& with) {
  const auto options = std::make_shared<key_options>();
  auto* const revoke = keys.add_subcommand("revoke", "End a key, and cancel what it has queued");
  revoke->add_option("ID", options->id, "The key, as `keys list` shows it")->required();
  revoke->add_flag("--keep-queued", options->keep_queued,
                   "Let in nothing more, but send what it has queued: for rotation");
  revoke->add_flag("--json", options->as_json, "Print JSON");
  revoke->footer("Answers when nothing of the key can start any more: after about a second.\n"
                 "\n"
                 "Examples:\n"
                 "  paceline keys revoke 373217432412160000\n"
                 "  paceline keys revoke 373217432412160000 --keep-queued");
  revoke->callback([&with, options] {
    with.chosen = [&with, options] {
      const auto which = parse_id_as<key_id>(options->id, "key");
      if (!which)
        return say_wrong_use(which.failure().text, "keys revoke");
      return with_session(
          with, [&options, &which](session& on) { return run_revoke(on, *options, *which); });
    };
  });
}

} // namespace

void add_keys(CLI::App& app, program& with) {
  auto* const keys = app.add_subcommand("keys", "Keys of the HTTP API: create, list, revoke");
  keys->require_subcommand(1);
  keys->footer("To rotate: create a second key of the same name, use it, and revoke the first with "
               "--keep-queued.\n"
               "\n"
               "Examples:\n"
               "  paceline keys create --name shop --environment test\n"
               "  paceline keys list\n"
               "  paceline keys revoke 373217432412160000");
  add_create(*keys, with);
  add_list(*keys, with);
  add_revoke(*keys, with);
}

} // namespace paceline
