#include "config/provider_checks.hpp"

#include <algorithm>

#include "config/endpoint.hpp"

namespace paceline {
namespace {

constexpr std::size_t least_key = 32; ///< octets: as long as the HMAC's own output

class route_rules {
public:
  explicit route_rules(const route_settings& route) : route_(route) {}

  std::vector<option_fault> run(std::chrono::milliseconds call_timeout) {
    switch (route_.provider) {
    case provider_kind::simulated:
      return {};
    case provider_kind::ses:
      check_https("https://HOST or nothing");
      break;
    case provider_kind::smtp:
      check_smtp();
      break;
    case provider_kind::batch:
      check_https("https://HOST or nothing");
      if (route_.secret.empty() && route_.secret_file.empty())
        add("secret_file", "a path",
            "the provider needs an API key: write it to a file of its own");
      break;
    }
    if (!route_.secret.empty() && !route_.secret_file.empty())
      add("secret", "nothing beside secret_file", "remove one of secret and secret_file");
    if (route_.connect_timeout >= call_timeout)
      add("connect_timeout_ms", "less than " + std::to_string(call_timeout.count()),
          "must be less than dispatch.call_timeout_ms");
    return std::move(faults_);
  }

private:
  void add(std::string option, std::string allowed, std::string advice) {
    faults_.push_back({std::move(option), std::move(allowed), std::move(advice)});
  }

  /// Plain HTTP would show the credentials to everyone on the way.
  void check_https(const char* allowed) {
    if (route_.endpoint.empty())
      return;
    const auto where = parse_endpoint(route_.endpoint);
    if (!where || where->scheme != "https")
      return add("endpoint", allowed, "write it as https://email.eu-central-1.amazonaws.com");
    check_private(*where);
  }

  void check_private(const endpoint& where) {
    if (where.is_loopback() && !route_.allow_private)
      add("endpoint", "a public host", "set allow_private to true if it shall be this machine");
  }

  void check_smtp() {
    const auto where = parse_endpoint(route_.endpoint);
    const bool implicit = route_.security == smtp_security::tls;
    const std::string scheme = implicit ? "smtps" : "smtp";
    if (!where || where->scheme != scheme)
      add("endpoint", scheme + "://HOST:PORT",
          "write it as " + scheme + "://mail.example.com:" + (implicit ? "465" : "587")
              + ", or change security");
    else
      check_private(*where);
    if (route_.security == smtp_security::none
        && (!where || !where->is_loopback() || !route_.allow_private))
      add("security", "starttls or tls",
          "mail and password would travel in the clear: none is for a loopback address with "
          "allow_private only");
    const bool has_secret = !route_.secret.empty() || !route_.secret_file.empty();
    if (route_.username.empty() == has_secret)
      add(has_secret ? "username" : "secret_file", has_secret ? "a name" : "a path",
          "username and secret belong together: give both or neither");
    if (route_.target_rate <= 0)
      add("target_rate", "more than 0",
          "an SMTP server tells no quota: say how many recipients a second it may get");
  }

  const route_settings& route_;
  std::vector<option_fault> faults_;
};

} // namespace

std::vector<option_fault> provider_faults(const route_settings& route,
                                          std::chrono::milliseconds call_timeout) {
  return route_rules{route}.run(call_timeout);
}

std::vector<option_fault> unsubscribe_faults(const unsubscribe_settings& unsubscribe, bool needed) {
  std::vector<option_fault> faults;
  if (unsubscribe.base_url.empty() && unsubscribe.keys.empty()) {
    if (needed)
      faults.push_back({"base_url", "https://HOST",
                        "a live route's campaigns must carry a link that unsubscribes: say where "
                        "people reach the API listener"});
    return faults;
  }
  const auto where = parse_endpoint(unsubscribe.base_url);
  // RFC 8058, section 3.1, asks for HTTPS; on one's own machine there is nobody to listen.
  const bool is_local_test = where && where->scheme == "http" && where->is_loopback();
  if (!where || (where->scheme != "https" && !is_local_test))
    faults.push_back({"base_url", "https://HOST", "write it as https://mail.example.com"});
  if (unsubscribe.keys.empty())
    faults.push_back(
        {"keys", "a list of secrets", "links need a key: make one with `openssl rand -hex 32`"});
  if (std::any_of(unsubscribe.keys.begin(), unsubscribe.keys.end(),
                  [](const std::string& key) { return key.size() < least_key; }))
    faults.push_back({"keys", "secrets of 32 or more octets",
                      "whoever guesses a key can unsubscribe everybody: make one with `openssl "
                      "rand -hex 32`"});
  return faults;
}

std::vector<std::string> idle_options(const route_settings& route) {
  const auto is = [&route](provider_kind kind) { return route.provider == kind; };
  std::vector<std::string> idle;
  const auto look = [&idle](const char* option, bool has_value, bool has_meaning) {
    if (has_value && !has_meaning)
      idle.emplace_back(option);
  };
  const bool is_remote = is_real(route.provider);
  look("endpoint", !route.endpoint.empty(), is_remote);
  look("ca_file", !route.ca_file.empty(), is_remote);
  look("allow_private", route.allow_private, is_remote);
  look("aws_region", !route.aws_region.empty(), is(provider_kind::ses));
  look("configuration_set", !route.configuration_set.empty(), is(provider_kind::ses));
  look("credentials_file", !route.credentials_file.empty(), is(provider_kind::ses));
  look("username", !route.username.empty(), is(provider_kind::smtp));
  const bool takes_secret = is(provider_kind::smtp) || is(provider_kind::batch);
  look("secret", !route.secret.empty(), takes_secret);
  look("secret_file", !route.secret_file.empty(), takes_secret);
  return idle;
}

} // namespace paceline
