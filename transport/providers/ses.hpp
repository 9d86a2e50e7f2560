/// Amazon SES by its API version 2: SendEmail with a raw message, GetAccount for the quota.
///
/// Messages must have the form `raw`. Calls are signed on the courier's thread (20 kB: base64,
/// SHA-256 and the signature, about 40 us). Without credentials every call ends `not_started`; a
/// clock that is behind or credentials that have run out cost one refused call, then what is wrong
/// is put right and the message goes again. docs/decisions/0016-ses-answers.md and docs/ses.md.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "config/logging.hpp"
#include "config/settings.hpp"
#include "transport/aws/credentials_chain.hpp"
#include "transport/outgoing/curl_engine.hpp"
#include "transport/providers/provider.hpp"

namespace paceline {

struct ses_options {
  std::string region;            ///< `eu-central-1`
  std::string endpoint;          ///< empty: https://email.REGION.amazonaws.com
  std::string configuration_set; ///< empty: none
  credentials_options credentials;
  engine_options connections; ///< timeouts, authorities, private addresses, the most connections
  std::size_t warm_connections = 8;
  wall_clock_function wall = unix_seconds_now;
  std::string route;     ///< for the log
  logger* log = nullptr; ///< null: silent; outlives the provider
};

/// What a route's settings ask for; `name` is `environment:region`.
ses_options ses_options_of(const std::string& name, const route_settings& route,
                           std::chrono::milliseconds call_timeout);

/// Opens its first connections at once. Throws std::runtime_error where the file with certificate
/// authorities can't be read.
std::unique_ptr<provider> make_ses_provider(reactor& loop, const ses_options& options);

} // namespace paceline
