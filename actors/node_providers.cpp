#include "actors/node_providers.hpp"

#include <fstream>
#include <stdexcept>
#include <utility>

#include "config/endpoint.hpp"
#include "transport/providers/batch.hpp"
#include "transport/providers/ses.hpp"
#include "transport/providers/simulated.hpp"
#include "transport/providers/smtp.hpp"

namespace paceline {
namespace {

/// https://docs.aws.amazon.com/ses/latest/dg/quotas.html: messages over 10 MB may be throttled to
/// 40 MB a second.
constexpr upload_limit ses_uploads{10'000'000, 40'000'000};

constexpr std::size_t longest_secret = 4096;

simulated_options simulated_of(const settings& config, const route_of_node& asking) {
  simulated_options options;
  options.latency = std::chrono::duration_cast<nanoseconds>(config.simulator.latency);
  options.jitter = config.simulator.latency_jitter;
  options.quota = rate::per_second(config.simulator.rate);
  options.tolerance = config.simulator.tolerance;
  options.daily_quota = config.simulator.daily_quota;
  options.ledger = config.simulator.ledger;
  options.seed = static_cast<std::uint64_t>(config.simulator.seed);
  options.node = asking.node;
  options.route = asking.route;
  return options;
}

/// The password or API key; empty where the route has none.
std::string secret_of(const std::string& name, const route_settings& route) {
  if (route.secret_file.empty())
    return route.secret;
  const auto fail = [&name, &route](const char* problem) {
    return std::runtime_error("routes." + name + ".secret_file: " + route.secret_file + " "
                              + problem);
  };
  std::ifstream file(route.secret_file);
  if (!file)
    throw fail("can't be read: check the path and who may read it");
  std::string secret(longest_secret + 1, '\0');
  file.read(secret.data(), static_cast<std::streamsize>(secret.size()));
  secret.resize(static_cast<std::size_t>(file.gcount()));
  secret.resize(std::min(secret.find_first_of("\r\n"), secret.size()));
  if (secret.empty())
    throw fail("has an empty first line: write the secret there");
  if (secret.size() > longest_secret)
    throw fail("has a first line of more than 4,096 octets");
  return secret;
}

smtp_options smtp_of(const route_settings& route, std::string secret,
                     std::chrono::milliseconds call_timeout) {
  const auto where = parse_endpoint(route.endpoint).value();
  smtp_options options;
  options.host = where.host;
  switch (route.security) {
  case smtp_security::starttls:
    options.security = smtp_options::protection::starttls;
    options.port = 587;
    break;
  case smtp_security::tls:
    options.security = smtp_options::protection::tls;
    options.port = 465;
    break;
  case smtp_security::none:
    options.security = smtp_options::protection::none;
    options.port = 25;
    break;
  }
  if (where.port != 0)
    options.port = where.port;
  options.username = route.username;
  options.password = std::move(secret);
  options.ca_file = route.ca_file;
  options.allow_private = route.allow_private;
  options.quota = rate::per_second(route.target_rate);
  if (route.max_connections > 0)
    options.max_connections = route.max_connections;
  options.warm_connections = route.warm_connections;
  options.connect_timeout = route.connect_timeout;
  options.total_timeout = call_timeout;
  return options;
}

batch_options batch_of(const route_settings& route, std::string secret,
                       std::chrono::milliseconds call_timeout) {
  batch_options options;
  if (!route.endpoint.empty())
    options.endpoint = route.endpoint;
  options.key = std::move(secret);
  options.ca_file = route.ca_file;
  options.allow_private = route.allow_private;
  options.batch_size = route.batch_size;
  if (route.max_connections > 0)
    options.max_connections = route.max_connections;
  options.warm_connections = route.warm_connections;
  options.connect_timeout = route.connect_timeout;
  options.total_timeout = call_timeout;
  return options;
}

provider_kind kind_of(const settings& config, const std::string& name) {
  const auto environment = config.environments.find(name.substr(0, name.find(':')));
  const bool is_live = environment != config.environments.end()
                       && environment->second.kind == environment_kind::live;
  return is_live ? config.routes.at(name).provider : provider_kind::simulated;
}

} // namespace

route_provider provider_of(const settings& config, const route_of_node& asking, logger& log) {
  const auto& route = config.routes.at(asking.route);
  const auto call_timeout = config.dispatch.call_timeout;
  switch (kind_of(config, asking.route)) {
  case provider_kind::simulated:
    return {[options = simulated_of(config, asking)](reactor& on) {
              return make_simulated_provider(on, options);
            },
            mail_form::parts,
            1,
            {}};
  case provider_kind::ses: {
    auto options = ses_options_of(asking.route, route, call_timeout);
    options.log = &log;
    return {[options](reactor& on) { return make_ses_provider(on, options); }, mail_form::raw, 1,
            ses_uploads};
  }
  case provider_kind::smtp:
    return {[options = smtp_of(route, secret_of(asking.route, route), call_timeout)](reactor& on) {
              return make_smtp_provider(on, options);
            },
            mail_form::raw,
            1,
            {}};
  case provider_kind::batch:
    return {[options = batch_of(route, secret_of(asking.route, route), call_timeout)](reactor& on) {
              return make_batch_provider(on, options);
            },
            mail_form::parts,
            route.batch_size,
            {}};
  }
  throw std::logic_error("unknown provider");
}

} // namespace paceline
