#include "config/checks.hpp"

#include <algorithm>
#include <initializer_list>

#include "config/listen_address.hpp"
#include "config/provider_checks.hpp"
#include "config/values.hpp"

namespace paceline {
namespace {

using std::chrono::milliseconds;

std::string ms_text(milliseconds value) {
  return std::to_string(value.count());
}

/// Environments and regions.
bool is_name(std::string_view text) {
  constexpr std::size_t longest = 63;
  auto is_alphanumeric = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !text.empty() && text.size() <= longest && is_alphanumeric(text.front())
         && std::all_of(text.begin(), text.end(),
                        [is_alphanumeric](char c) { return is_alphanumeric(c) || c == '-'; });
}

class checker {
public:
  checker(const settings& checked, const std::set<std::string>& failed)
      : checked_(checked), failed_(failed) {}

  std::vector<config_error> run() {
    check_dispatch();
    check_cluster();
    check_expansion();
    check_listener("api", checked_.api);
    check_listener("feedback", checked_.feedback);
    check_listener("admin", checked_.admin);
    check_http();
    check_unsubscribe();
    for (const auto& [name, environment] : checked_.environments)
      if (!is_name(name))
        report({"environments", name}, "1 to 63 of a-z, 0-9 and -",
               "rename the environment; it begins with a letter or digit");
    for (const auto& [name, route] : checked_.routes)
      check_route(name, route);
    return std::move(errors_);
  }

private:
  using path = std::vector<std::string>;

  const setting_row* row_of(const std::string& key) const {
    auto found = std::find_if(checked_.rows.begin(), checked_.rows.end(),
                              [&key](const setting_row& row) { return row.key == key; });
    return found == checked_.rows.end() ? nullptr : &*found;
  }

  void report(const path& at, std::string allowed, std::string advice) {
    auto key = join_key(at);
    auto row = row_of(key);
    errors_.push_back({key, row ? row->value : "", std::move(allowed), row ? row->source : "",
                       std::move(advice)});
  }

  bool all_sound(std::initializer_list<const char*> keys) const {
    return std::none_of(keys.begin(), keys.end(),
                        [this](const char* key) { return failed_.contains(key); });
  }

  void check_dispatch() {
    const auto& dispatch = checked_.dispatch;
    // A claim is called interrupted only when its call must long have ended.
    auto least = dispatch.call_timeout + milliseconds{1000};
    if (all_sound({"dispatch.interrupted_after_ms", "dispatch.call_timeout_ms"})
        && dispatch.interrupted_after <= least)
      report({"dispatch", "interrupted_after_ms"}, "more than " + ms_text(least),
             "must exceed dispatch.call_timeout_ms + 1000: raise it or lower that");
    if (all_sound({"dispatch.min_in_flight_per_shard", "dispatch.max_in_flight_per_shard"})
        && dispatch.max_in_flight_per_shard < dispatch.min_in_flight_per_shard)
      report({"dispatch", "max_in_flight_per_shard"},
             "at least " + std::to_string(dispatch.min_in_flight_per_shard),
             "must not be less than dispatch.min_in_flight_per_shard");
    if (all_sound({"dispatch.throttle_backoff_max_ms", "dispatch.throttle_backoff_first_ms"})
        && dispatch.throttle_backoff_max < dispatch.throttle_backoff_first)
      report({"dispatch", "throttle_backoff_max_ms"},
             "at least " + ms_text(dispatch.throttle_backoff_first),
             "must not be less than dispatch.throttle_backoff_first_ms");
  }

  void check_cluster() {
    const auto& cluster = checked_.cluster;
    if (!all_sound({"cluster.lease_ms", "cluster.margin_ms"}))
      return;
    if (2 * cluster.margin >= cluster.lease) {
      report({"cluster", "margin_ms"}, "less than half of " + ms_text(cluster.lease),
             "must be less than half of cluster.lease_ms");
      return; // there is no room for renew_ms to judge
    }
    auto room = cluster.lease - cluster.margin;
    if (all_sound({"cluster.renew_ms"}) && 2 * cluster.renew >= room)
      report({"cluster", "renew_ms"}, "less than half of " + ms_text(room),
             "must be less than half of cluster.lease_ms - cluster.margin_ms");
  }

  void check_expansion() {
    if (all_sound({"expansion.buffer_min", "expansion.buffer_max"})
        && checked_.expansion.buffer_max < checked_.expansion.buffer_min)
      report({"expansion", "buffer_max"},
             "at least " + std::to_string(checked_.expansion.buffer_min),
             "must not be less than expansion.buffer_min");
  }

  void check_listener(const std::string& section, const listener_settings& listener) {
    if (!listener.listen.empty() && !parse_listen_address(listener.listen))
      report({section, "listen"}, "ADDRESS:PORT with an IP address, or nothing",
             "write it as 127.0.0.1:8700 or [::1]:8700");
    if (listener.tls_certificate.empty() != listener.tls_key.empty())
      report({section, listener.tls_key.empty() ? "tls_key" : "tls_certificate"}, "a path",
             "certificate and key belong together: give both or neither");
  }

  void check_http() {
    const auto& http = checked_.http;
    if (all_sound({"http.max_body_bytes", "http.max_body_bytes_in_flight"})
        && http.max_body_bytes_in_flight < http.max_body_bytes)
      report({"http", "max_body_bytes_in_flight"},
             "at least " + std::to_string(http.max_body_bytes),
             "must not be less than http.max_body_bytes");
  }

  void check_unsubscribe() {
    const bool needed =
        std::any_of(checked_.routes.begin(), checked_.routes.end(), [this](const auto& route) {
          const auto of = checked_.environments.find(route.first.substr(0, route.first.find(':')));
          return of != checked_.environments.end() && of->second.kind == environment_kind::live;
        });
    for (auto& fault : unsubscribe_faults(checked_.unsubscribe, needed))
      report({"unsubscribe", fault.option}, std::move(fault.allowed), std::move(fault.advice));
  }

  void check_route(const std::string& name, const route_settings& route) {
    constexpr double least_rate = 0.02;
    if (!has_failed(name, "target_rate") && route.target_rate > 0 && route.target_rate < least_rate)
      report({"routes", name, "target_rate"}, "0, or from 0.02 to 1000000",
             "raise it, or give 0 to follow the provider's quota");
    auto colon = name.find(':');
    auto environment = name.substr(0, colon);
    auto region = colon == std::string::npos ? std::string{} : name.substr(colon + 1);
    if (!is_name(environment) || !is_name(region)) {
      report({"routes", name}, "environment:region, each 1 to 63 of a-z, 0-9 and -",
             "rename the route, e.g. [routes.\"test:sim\"]");
      return;
    }
    auto found = checked_.environments.find(environment);
    if (found == checked_.environments.end()) {
      report({"routes", name}, "a route of a configured environment",
             "add [environments." + environment + "] with its kind, or rename the route");
      return;
    }
    if (failed_.contains(join_key({"environments", environment, "kind"})))
      return;
    if (found->second.kind == environment_kind::live)
      check_live_route(name, region, route);
    else if (!has_failed(name, "provider") && is_real(route.provider))
      report({"routes", name, "provider"}, "simulated",
             "a test environment must not call a real provider");
  }

  void check_live_route(const std::string& name, const std::string& region,
                        const route_settings& route) {
    if (!has_failed(name, "enable_live") && !route.enable_live)
      report({"routes", name, "enable_live"}, "true",
             "the environment is live: set it to true if people shall get these messages");
    if (!has_failed(name, "provider") && !is_real(route.provider))
      report({"routes", name, "provider"}, "a real provider",
             "a live environment can't use the simulated provider: choose another, or make the "
             "environment's kind test");
    for (auto& fault : provider_faults(route, checked_.dispatch.call_timeout))
      if (!has_failed(name, fault.option.c_str()))
        report({"routes", name, fault.option}, std::move(fault.allowed), std::move(fault.advice));
    auto [owner, is_first] = live_regions_.emplace(region, name);
    if (!is_first)
      report({"routes", name}, "a region of no other live environment",
             "region " + region + " belongs to " + owner->second
                 + " already, and both would use up one quota: remove one of them");
  }

  bool has_failed(const std::string& route, const char* option) const {
    return failed_.contains(join_key({"routes", route, option}));
  }

  const settings& checked_;
  const std::set<std::string>& failed_;
  std::map<std::string, std::string> live_regions_; ///< region to the first route that has it
  std::vector<config_error> errors_;
};

} // namespace

bool is_real(provider_kind provider) {
  return provider != provider_kind::simulated;
}

std::vector<config_error> check_settings(const settings& checked,
                                         const std::set<std::string>& failed) {
  return checker{checked, failed}.run();
}

std::vector<std::string> find_doubts(const settings& checked) {
  std::vector<std::string> out;
  if (checked.routes.empty())
    out.push_back("no route is configured: nothing will be sent");
  for (const auto& [name, route] : checked.routes)
    if (route.target_rate > 0 && route.rate_factor != 1.0)
      out.push_back(join_key({"routes", name}) + ": rate_factor has no effect beside target_rate");
  for (const auto& [name, route] : checked.routes)
    for (const auto& option : idle_options(route))
      out.push_back(join_key({"routes", name}) + ": " + option
                    + " has no meaning for this provider");
  return out;
}

} // namespace paceline
