#include "storage/conninfo.hpp"

#include <algorithm>
#include <map>
#include <memory>

#include <libpq-fe.h>

namespace paceline {
namespace {

std::string quoted(std::string_view value) {
  std::string text = "'";
  for (const char c : value) {
    if (c == '\'' || c == '\\')
      text += '\\';
    text += c;
  }
  return text += '\'';
}

/// libpq counts whole seconds and takes 1 for 2.
std::string connect_seconds(std::chrono::milliseconds timeout) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(timeout).count();
  return std::to_string(std::max<std::int64_t>(2, seconds));
}

} // namespace

result<std::string> complete_conninfo(const connection_options& options) {
  char* complaint = nullptr;
  const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> parsed{
      PQconninfoParse(options.dsn.c_str(), &complaint), &PQconninfoFree};
  PQfreemem(complaint); // it may quote a piece of a password
  if (!parsed)
    return error{error_kind::invalid,
                 "the database DSN can't be parsed: write \"host=... dbname=... user=...\" or "
                 "\"postgresql://user@host/dbname\""};
  std::map<std::string, std::string> values{
      {"application_name", options.application_name},
      {"client_encoding", "UTF8"},
      {"connect_timeout", connect_seconds(options.connect_timeout)},
      {"gssencmode", "disable"},
      {"keepalives_idle", "5"},
      {"keepalives_interval", "2"},
      {"keepalives_count", "3"}, // 5 + 3 x 2 = 11 s until a silent peer counts as gone
      {"tcp_user_timeout", std::to_string(options.statement_timeout.count())},
  };
  // Behind a transaction pooler no start-up option lasts: there it is what `migrate` sets for its
  // role (set_role_defaults says why) that counts, and a node should use that role.
  if (options.prepared_statements)
    values["options"] = "-c plan_cache_mode=force_generic_plan -c enable_seqscan=off"
                        " -c enable_hashjoin=off -c enable_mergejoin=off -c statement_timeout="
                        + std::to_string(options.statement_timeout.count());
  for (const auto* option = parsed.get(); option->keyword != nullptr; ++option)
    if (option->val != nullptr)
      values[option->keyword] = option->val;
  std::string text;
  for (const auto& [keyword, value] : values)
    text += keyword + "=" + quoted(value) + " ";
  return text;
}

} // namespace paceline
