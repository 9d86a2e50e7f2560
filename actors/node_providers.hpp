/// The provider of each route, as its settings say. A route of a test environment gets the
/// simulated one whatever they say.
#pragma once

#include <string>

#include "actors/dispatch/upload_gate.hpp"
#include "config/logging.hpp"
#include "config/settings.hpp"
#include "transport/courier.hpp"

namespace paceline {

/// Who asks: names for ledgers and logs.
struct route_of_node {
  std::string node;
  std::string route; ///< `environment:region`
};

/// How the route's mail is made and handed over.
struct route_provider {
  courier::provider_factory make;
  mail_form form = mail_form::parts;
  std::int32_t batch = 1; ///< messages in one request; more than 1: slots are requests
  upload_limit uploads;
};

/// Reads the route's secret_file, if it has one. `log` outlives what is made. Throws
/// std::runtime_error with what is wrong and what to do, for whoever starts the node; so does
/// `make`, for files that only the provider reads.
route_provider provider_of(const settings& config, const route_of_node& asking, logger& log);

} // namespace paceline
