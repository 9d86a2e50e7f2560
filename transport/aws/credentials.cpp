#include "transport/aws/credentials.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <utility>
#include <variant>

#include "transport/api/json_document.hpp"
#include "transport/aws/aws_time.hpp"
#include "transport/http/ascii.hpp"

namespace paceline {
namespace {

constexpr std::string_view blanks = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  const auto start = text.find_first_not_of(blanks);
  if (start == std::string_view::npos)
    return {};
  return text.substr(start, text.find_last_not_of(blanks) - start + 1);
}

error invalid(std::string text) {
  return error{error_kind::invalid, std::move(text)};
}

bool is_printable_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

/// The names and values under `[profile]`; nothing if there is no such section.
std::optional<std::map<std::string, std::string>> find_section(std::string_view text,
                                                               std::string_view profile) {
  std::optional<std::map<std::string, std::string>> found;
  bool is_inside = false;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    const auto raw = text.substr(at, end - at);
    const auto line = trimmed(raw);
    at = end + 1;
    if (line.empty() || line[0] == '#' || line[0] == ';')
      continue;
    if (line[0] == '[') {
      auto name = trimmed(line.substr(1, std::min(line.find(']'), line.size()) - 1));
      if (name.starts_with("profile "))
        name = trimmed(name.substr(8));
      is_inside = name == profile;
      if (is_inside && !found)
        found.emplace();
    } else if (const auto equals = line.find('='); is_inside && equals != std::string_view::npos
                                                   && blanks.find(raw[0]) == blanks.npos) {
      // Indented lines belong to a setting above them and are none of ours.
      (*found)[ascii_lower(trimmed(line.substr(0, equals)))] = trimmed(line.substr(equals + 1));
    }
  }
  return found;
}

/// A member of the object by its name; nothing where it is no text.
std::string text_member(const json_value& object, std::string_view name) {
  for (const auto& member : object)
    if (member.key() == name && member.kind() == json_kind::text)
      return std::string{member.text()};
  return {};
}

/// Host of `scheme://host[:port]/...`, lower case, without brackets; empty if it is no such URL.
std::string host_of(std::string_view url) {
  const auto scheme = url.find("://");
  if (scheme == std::string_view::npos)
    return {};
  auto authority = url.substr(scheme + 3);
  authority = authority.substr(0, authority.find_first_of("/?#"));
  if (authority.find('@') != std::string_view::npos)
    return {};
  if (authority.starts_with('['))
    return ascii_lower(authority.substr(1, std::min(authority.find(']'), authority.size()) - 1));
  return ascii_lower(authority.substr(0, authority.find(':')));
}

/// Four decimal octets of which the first is 127: a name that merely begins so is none.
bool is_ipv4_loopback(std::string_view host) {
  return host.starts_with("127.") && std::count(host.begin(), host.end(), '.') == 3
         && host.find_first_not_of("0123456789.") == std::string_view::npos;
}

bool may_be_plain(std::string_view host) {
  static constexpr std::array<std::string_view, 5> agents{"localhost", "::1", "169.254.170.2",
                                                          "169.254.170.23", "fd00:ec2::23"};
  return is_ipv4_loopback(host) || std::find(agents.begin(), agents.end(), host) != agents.end();
}

} // namespace

std::optional<std::string> process_environment(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value ? std::optional<std::string>{value} : std::nullopt;
}

result<aws_credentials> checked_credentials(aws_credentials keys, std::string_view where) {
  const auto check = [&where](std::string& value, std::string_view what,
                              bool is_needed) -> std::optional<error> {
    value = trimmed(value);
    if (value.empty() && is_needed)
      return invalid(std::string{where} + ": the " + std::string{what} + " is missing");
    if (!is_printable_ascii(value))
      return invalid(std::string{where} + ": the " + std::string{what}
                     + " has blanks or other characters that none has");
    return std::nullopt;
  };
  if (auto wrong = check(keys.access_key, "access key", true))
    return std::move(*wrong);
  if (auto wrong = check(keys.secret_key, "secret key", true))
    return std::move(*wrong);
  if (auto wrong = check(keys.session_token, "session token", false))
    return std::move(*wrong);
  return keys;
}

result<std::optional<aws_credentials>> read_environment(const environment_function& environment) {
  aws_credentials keys;
  keys.access_key = environment("AWS_ACCESS_KEY_ID").value_or("");
  keys.secret_key = environment("AWS_SECRET_ACCESS_KEY").value_or("");
  keys.session_token = environment("AWS_SESSION_TOKEN").value_or("");
  if (keys.access_key.empty() && keys.secret_key.empty())
    return std::optional<aws_credentials>{};
  auto checked = checked_credentials(
      std::move(keys), "environment variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
  if (!checked)
    return checked.failure();
  return std::optional{std::move(*checked)};
}

result<std::optional<aws_credentials>> read_credentials_file(std::string_view text,
                                                             std::string_view profile) {
  if (text.starts_with("\xef\xbb\xbf"))
    text.remove_prefix(3);
  const auto section = find_section(text, profile);
  if (!section)
    return std::optional<aws_credentials>{};
  const auto where = "profile [" + std::string{profile} + "] of the credentials file";
  const auto value = [&section](const char* name) {
    const auto found = section->find(name);
    return found == section->end() ? std::string{} : found->second;
  };
  aws_credentials keys{value("aws_access_key_id"), value("aws_secret_access_key"),
                       value("aws_session_token"), std::nullopt};
  if (keys.access_key.empty())
    for (const char* const other :
         {"role_arn", "credential_process", "sso_session", "sso_start_url"})
      if (section->contains(other))
        return invalid(where + " uses " + other
                       + ", which is not done here: give it aws_access_key_id and "
                         "aws_secret_access_key, or use the container's or the instance's role");
  auto checked = checked_credentials(std::move(keys), where);
  if (!checked)
    return checked.failure();
  return std::optional{std::move(*checked)};
}

result<aws_credentials> read_credentials_json(std::string_view body) {
  const auto read = json_document::read(body);
  const auto* document = std::get_if<json_document>(&read);
  if (!document || document->root().kind() != json_kind::object)
    return invalid("the credentials service's answer is no JSON object");
  const auto root = document->root();
  const auto code = text_member(root, "Code");
  if (!code.empty() && code != "Success")
    return invalid("the credentials service answered " + code.substr(0, 64));
  aws_credentials keys{text_member(root, "AccessKeyId"), text_member(root, "SecretAccessKey"),
                       text_member(root, "Token"), std::nullopt};
  if (const auto expiration = text_member(root, "Expiration"); !expiration.empty()) {
    keys.expires = read_utc_time(expiration);
    if (!keys.expires)
      return invalid("the credentials service's answer has an unreadable Expiration");
  }
  return checked_credentials(std::move(keys), "the credentials service's answer");
}

result<std::optional<container_source>> read_container_source(
    const environment_function& environment) {
  container_source source;
  const auto relative = environment("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI").value_or("");
  const auto full = environment("AWS_CONTAINER_CREDENTIALS_FULL_URI").value_or("");
  if (!relative.empty()) {
    if (!relative.starts_with('/') || !is_printable_ascii(relative))
      return invalid("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI must be a path that begins with /");
    source.url = "http://169.254.170.2" + relative;
  } else if (!full.empty()) {
    const auto host = host_of(full);
    const bool is_https = ascii_lower(full.substr(0, 8)) == "https://";
    const bool is_http = ascii_lower(full.substr(0, 7)) == "http://";
    if (host.empty() || !is_printable_ascii(full) || !(is_https || (is_http && may_be_plain(host))))
      return invalid("AWS_CONTAINER_CREDENTIALS_FULL_URI must be https://, or http:// to a "
                     "loopback address, 169.254.170.2, 169.254.170.23 or [fd00:ec2::23]");
    source.url = full;
  } else {
    return std::optional<container_source>{};
  }
  source.token_file = environment("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE").value_or("");
  if (source.token_file.empty()) {
    auto token =
        read_container_token(environment("AWS_CONTAINER_AUTHORIZATION_TOKEN").value_or(""));
    if (!token)
      return token.failure();
    source.token = std::move(*token);
  }
  return std::optional{std::move(source)};
}

result<std::string> read_container_token(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r'))
    text.remove_suffix(1);
  const auto is_bad = [](char c) { return c < ' ' || c > '~'; };
  if (std::any_of(text.begin(), text.end(), is_bad))
    return invalid("the container's authorization token has line breaks or other characters that "
                   "no header may have");
  return std::string{text};
}

} // namespace paceline
