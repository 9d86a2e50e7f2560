#include "tools/simulators/behaviour.hpp"

#include <array>
#include <charconv>

namespace paceline::simulators {
namespace {

constexpr std::string_view simulator_domain = "@simulator.paceline.test";

struct behaviour_name {
  std::string_view name;
  behaviour what;
};

/// A behaviour's own name comes before its other ones.
constexpr std::array names{
    behaviour_name{"none", behaviour::success},
    behaviour_name{"success", behaviour::success},
    behaviour_name{"slow", behaviour::slow},
    behaviour_name{"once-throttle", behaviour::once_throttle},
    behaviour_name{"throttle", behaviour::throttle},
    behaviour_name{"daily-quota", behaviour::daily_quota},
    behaviour_name{"paused", behaviour::paused},
    behaviour_name{"suspended", behaviour::suspended},
    behaviour_name{"reject", behaviour::reject},
    behaviour_name{"unverified", behaviour::unverified},
    behaviour_name{"unverified-recipient", behaviour::unverified_recipient},
    behaviour_name{"config-set-missing", behaviour::config_set_missing},
    behaviour_name{"mail-from", behaviour::mail_from},
    behaviour_name{"bad-request", behaviour::bad_request},
    behaviour_name{"access-denied", behaviour::access_denied},
    behaviour_name{"clock-skew", behaviour::clock_skew},
    behaviour_name{"unavailable", behaviour::unavailable},
    behaviour_name{"503", behaviour::unavailable},
    behaviour_name{"redirect", behaviour::redirect},
    behaviour_name{"close-before-read", behaviour::close_before_read},
    behaviour_name{"error", behaviour::error},
    behaviour_name{"500", behaviour::error},
    behaviour_name{"bad-gateway", behaviour::bad_gateway},
    behaviour_name{"502", behaviour::bad_gateway},
    behaviour_name{"gateway-timeout", behaviour::gateway_timeout},
    behaviour_name{"504", behaviour::gateway_timeout},
    behaviour_name{"timeout", behaviour::timeout},
    behaviour_name{"hang", behaviour::hang},
    behaviour_name{"close-after-read", behaviour::close_after_read},
    behaviour_name{"disconnect", behaviour::close_after_read},
    behaviour_name{"cut-body", behaviour::cut_body},
    behaviour_name{"truncated", behaviour::truncated},
    behaviour_name{"malformed", behaviour::truncated},
    behaviour_name{"no-id", behaviour::no_id},
    behaviour_name{"endless", behaviour::endless},
    behaviour_name{"many-headers", behaviour::many_headers},
    behaviour_name{"large-body", behaviour::large_body},
    behaviour_name{"slow-banner", behaviour::slow_banner},
    behaviour_name{"421", behaviour::closing},
    behaviour_name{"auth-failed", behaviour::auth_failed},
};

/// Empty where the address is of another domain.
std::string_view asked_by(std::string_view address) {
  if (!address.ends_with(simulator_domain))
    return {};
  address.remove_suffix(simulator_domain.size());
  return address.substr(0, address.find('+'));
}

} // namespace

std::optional<behaviour> behaviour_named(std::string_view name) {
  for (const auto& known : names)
    if (known.name == name)
      return known.what;
  return std::nullopt;
}

std::string name_of(behaviour what) {
  for (const auto& known : names)
    if (known.what == what)
      return std::string{known.name};
  return "none";
}

std::string behaviour_names() {
  std::string all;
  for (const auto& known : names)
    all.append(all.empty() ? "" : ", ").append(known.name);
  return all;
}

bool is_taken(behaviour what) {
  switch (what) {
  case behaviour::success:
  case behaviour::slow:
  case behaviour::once_throttle:
    return true;
  default:
    return is_unanswered(what);
  }
}

bool is_unanswered(behaviour what) {
  switch (what) {
  case behaviour::error:
  case behaviour::bad_gateway:
  case behaviour::gateway_timeout:
  case behaviour::timeout:
  case behaviour::hang:
  case behaviour::close_after_read:
  case behaviour::cut_body:
  case behaviour::truncated:
  case behaviour::no_id:
  case behaviour::endless:
  case behaviour::many_headers:
  case behaviour::large_body:
    return true;
  default:
    return false;
  }
}

behaviour behaviour_of(std::string_view address) {
  return behaviour_named(asked_by(address)).value_or(behaviour::success);
}

behaviour behaviour_of(const std::vector<std::string>& addresses) {
  for (const auto& address : addresses)
    if (const auto what = behaviour_of(address); what != behaviour::success)
      return what;
  return behaviour::success;
}

std::optional<int> code_asked(std::string_view address, std::string_view stage) {
  auto text = asked_by(address);
  if (!text.starts_with(stage) || text.size() != stage.size() + 4 || text[stage.size()] != '-')
    return std::nullopt;
  text.remove_prefix(stage.size() + 1);
  int code = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), code);
  if (error != std::errc{} || end != text.data() + text.size() || code < 400 || code > 599)
    return std::nullopt;
  return code;
}

} // namespace paceline::simulators
