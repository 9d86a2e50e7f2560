#include "config/option_rows.hpp"
#include "config/options.hpp"

#include <algorithm>
#include <chrono>
#include <type_traits>

#include "config/settings.hpp"
#include "config/values.hpp"

namespace paceline {
namespace {

using namespace option_rows;

template <class Member>
constexpr bool is_fractional_duration = false;
template <class Period>
constexpr bool is_fractional_duration<std::chrono::duration<double, Period>> = true;

/// The member's type decides; the option's type has been checked before.
template <class Member>
void assign(Member& member, const option_value& value) {
  if constexpr (is_fractional_duration<Member>)
    member = Member{std::get<double>(value)};
  else if constexpr (std::is_same_v<Member, std::chrono::milliseconds>)
    member = Member{std::get<std::int64_t>(value)};
  else if constexpr (std::is_same_v<Member, std::int32_t> || std::is_enum_v<Member>)
    member = static_cast<Member>(std::get<std::int64_t>(value));
  else
    member = std::get<Member>(value);
}

template <auto Section, auto Member>
void put(settings& into, std::string_view, const option_value& value) {
  assign(into.*Section.*Member, value);
}

template <auto Sections, auto Member>
void put_named(settings& into, std::string_view instance, const option_value& value) {
  assign((into.*Sections)[std::string{instance}].*Member, value);
}

template <auto Member>
constexpr option_store database = put<&settings::database, Member>;
template <auto Member>
constexpr option_store node = put<&settings::node, Member>;
template <auto Member>
constexpr option_store logs = put<&settings::log, Member>;
template <auto Member>
constexpr option_store environment = put_named<&settings::environments, Member>;
template <auto Member>
constexpr option_store route = put_named<&settings::routes, Member>;
template <auto Member>
constexpr option_store dispatch = put<&settings::dispatch, Member>;
template <auto Member>
constexpr option_store cluster = put<&settings::cluster, Member>;
template <auto Member>
constexpr option_store simulator = put<&settings::simulator, Member>;
template <auto Member>
constexpr option_store expansion = put<&settings::expansion, Member>;
template <auto Member>
constexpr option_store recording = put<&settings::recording, Member>;
template <auto Member>
constexpr option_store http = put<&settings::http, Member>;
template <auto Member>
constexpr option_store api = put<&settings::api, Member>;
template <auto Member>
constexpr option_store unsubscribe = put<&settings::unsubscribe, Member>;

constexpr option_section sections[] = {
    {"database", "", "", "PostgreSQL, which holds everything that must not be lost."},
    {"node", "", "", "This process."},
    {"log", "", "", "Log lines on standard error."},
    {"environments", "<environment>", "test",
     "One table per environment. Its name has 1 to 63 of a-z, 0-9 and -, and begins with a letter "
     "or digit."},
    {"routes", "<route>", "test:sim",
     "One table per route, named environment:region. The region is one provider account with its "
     "own quota and is named like an environment; a region belongs to at most one live "
     "environment."},
    {"dispatch", "", "", "How shards read, claim and release messages."},
    {"cluster", "", "", "How nodes share shards."},
    {"simulator", "", "", "The simulated provider, which runs inside the process."},
    {"expansion", "", "", "How campaigns become queued messages."},
    {"recording", "", "", "How outcomes are stored."},
    {"api", "", "", "The HTTP API."},
    {"feedback", "", "", "The listener for what providers report."},
    {"admin", "", "", "The listener for health and metrics."},
    {"http", "", "", "Bounds of all listeners: what a client may cost."},
    {"unsubscribe", "", "", "Links that take people off a project's campaigns."},
};

using database_t = database_settings;
using dispatch_t = dispatch_settings;
using simulator_t = simulator_settings;
using listener_t = listener_settings;
using http_t = http_settings;
using unsubscribe_t = unsubscribe_settings;

constexpr option options[] = {
    masked(required(
        text("database.dsn", "", 4096, database<&database_t::dsn>,
             "Connection string of the database, as a URI or as key=value pairs. May point at a "
             "transaction pooler if prepared_statements is false."),
        "postgresql://paceline@127.0.0.1:5432/paceline")),
    masked(text("database.direct_dsn", "database.dsn", 4096, database<&database_t::direct_dsn>,
                "Connection string past any pooler, for migrations and LISTEN.")),
    flag("database.prepared_statements", "true", database<&database_t::prepared_statements>,
         "Whether named prepared statements are used. Set to false behind a transaction pooler."),
    duration("database.connect_timeout_ms", "5000", 100, 60000,
             database<&database_t::connect_timeout>, "How long one attempt to connect may take."),
    duration("database.statement_timeout_ms", "15000", 100, 600000,
             database<&database_t::statement_timeout>,
             "After this time the server gives up a statement."),

    text("node.name", "the host's name", 200, node<&node_settings::name>,
         "What this node is called in logs and in `paceline status`."),
    duration("node.drain_timeout_ms", "30000", 0, 600000, node<&node_settings::drain_timeout>,
             "How long a stopping node waits for calls on the wire and for their records."),

    live(choice("log.level", "info", "trace debug info warn error", logs<&log_settings::level>,
                "The least important lines that are still written.")),
    choice("log.format", "auto", "auto human json", logs<&log_settings::format>,
           "Lines for people or JSON; auto is human on a terminal and JSON otherwise."),

    required(choice("environments.<environment>.kind", "", "live test",
                    environment<&environment_settings::kind>,
                    "Whether real providers may be called (live) or only simulated ones (test)."),
             "test"),

    count("routes.<route>.shards", "", "4", 1, 1024, route<&route_settings::shards>,
          "Into how many shards the route's work is divided."),
    choice("routes.<route>.provider", "simulated", "simulated ses smtp batch",
           route<&route_settings::provider>,
           "Who delivers the messages. Live environments need a real provider, test environments "
           "a simulated one."),
    live(number("routes.<route>.rate_factor", "", "1.0", 0.01, 2,
                route<&route_settings::rate_factor>,
                "The share of the provider's maximum send rate that is used.")),
    live(number("routes.<route>.target_rate", "recipients/s", "0", 0, 1e6,
                route<&route_settings::target_rate>,
                "A fixed rate, at least 0.02, in place of the quota times rate_factor; 0 follows "
                "the quota.")),
    count("routes.<route>.pool", "connections", "1", 1, 4, route<&route_settings::pool>,
          "Database connections per shard."),
    flag("routes.<route>.enable_live", "false", route<&route_settings::enable_live>,
         "Must be true for a route of a live environment: a second look before people get mail."),
    text("routes.<route>.endpoint", "the provider's own", 2048, route<&route_settings::endpoint>,
         "Where the provider is: https://HOST for ses and batch, smtp://HOST:PORT for smtp, which "
         "has no default."),
    text("routes.<route>.ca_file", "the system's", 4096, route<&route_settings::ca_file>,
         "PEM file with the certificate authorities that the provider's certificate is checked "
         "against. It is always checked."),
    flag("routes.<route>.allow_private", "false", route<&route_settings::allow_private>,
         "Whether the endpoint may have a loopback, private or link-local address."),
    count("routes.<route>.max_connections", "connections", "0", 0, 10000,
          route<&route_settings::max_connections>,
          "The most connections of a node to the provider; 0: 2000 for ses, 10 for smtp, 8 for "
          "batch."),
    count("routes.<route>.warm_connections", "connections", "8", 0, 1000,
          route<&route_settings::warm_connections>,
          "Connections that are opened before the first message needs them."),
    duration("routes.<route>.connect_timeout_ms", "5000", 100, 60000,
             route<&route_settings::connect_timeout>,
             "How long name look-up, connecting and TLS may take together."),
    text("routes.<route>.aws_region", "the route's region", 63, route<&route_settings::aws_region>,
         "For ses: the AWS region, such as eu-central-1."),
    text("routes.<route>.configuration_set", "none", 64, route<&route_settings::configuration_set>,
         "For ses: the configuration set, whose events become feedback."),
    choice("routes.<route>.credentials", "automatic",
           "automatic environment file container instance", route<&route_settings::credentials>,
           "For ses: where AWS credentials come from. automatic takes the first that has any: "
           "AWS_ACCESS_KEY_ID and so on, the credentials file, the ECS container's, the EC2 "
           "instance's."),
    text("routes.<route>.credentials_file", "~/.aws/credentials", 4096,
         route<&route_settings::credentials_file>, "For ses: the credentials file."),
    preset(text("routes.<route>.credentials_profile", "", 256,
                route<&route_settings::credentials_profile>,
                "For ses: the profile in the credentials file."),
           "default"),
    choice("routes.<route>.security", "starttls", "starttls tls none",
           route<&route_settings::security>,
           "For smtp: encrypt after connecting, from the first octet, or not at all; the last only "
           "with allow_private and a loopback address."),
    text("routes.<route>.username", "none", 320, route<&route_settings::username>,
         "For smtp: whom to log in as."),
    secret(text("routes.<route>.secret", "none", 4096, route<&route_settings::secret>,
                "The password for smtp, the API key for batch. Better kept in a file of its own: "
                "see secret_file.")),
    text("routes.<route>.secret_file", "none", 4096, route<&route_settings::secret_file>,
         "A file whose first line is the secret."),
    count("routes.<route>.batch_size", "messages", "100", 1, 100,
          route<&route_settings::batch_size>,
          "For batch: the most messages in one request. The route's rate counts requests."),

    duration("dispatch.run_ms", "45000", 1000, 600000, dispatch<&dispatch_t::run>,
             "How long one run of a shard lasts before its state is saved and its alarm set "
             "again."),
    count("dispatch.reserve_batch", "messages", "24", 1, 1000, dispatch<&dispatch_t::reserve_batch>,
          "The least number of due messages that a shard reads ahead at once."),
    count("dispatch.max_group", "messages", "100", 1, 100, dispatch<&dispatch_t::max_group>,
          "The most messages claimed by one statement: what a crash can leave in doubt."),
    duration("dispatch.group_window_ms", "250", 10, 250, dispatch<&dispatch_t::group_window>,
             "The stretch of send slots that one claim covers."),
    duration("dispatch.call_timeout_ms", "30000", 100, 120000, dispatch<&dispatch_t::call_timeout>,
             "After this time a call to the provider counts as unknown."),
    duration("dispatch.interrupted_after_ms", "180000", 1000, 3600000,
             dispatch<&dispatch_t::interrupted_after>,
             "A claim this old without an outcome becomes unknown. Must exceed call_timeout_ms by "
             "more than 1000."),
    duration("dispatch.preflight_retry_ms", "15000", 1000, 600000,
             dispatch<&dispatch_t::preflight_retry>,
             "The wait after a message could not be prepared for a temporary reason."),
    count("dispatch.min_in_flight_per_shard", "calls", "64", 1, 20000,
          dispatch<&dispatch_t::min_in_flight_per_shard>,
          "How many calls of one shard may await their answer where one second of its rate is "
          "less. More keep the slots of others when some calls hang."),
    count("dispatch.max_in_flight_per_shard", "calls", "5000", 1, 20000,
          dispatch<&dispatch_t::max_in_flight_per_shard>,
          "The most calls of one shard that may await their answer."),
    duration("dispatch.throttle_backoff_first_ms", "2000", 100, 60000,
             dispatch<&dispatch_t::throttle_backoff_first>,
             "The wait of a message after its first refusal for being too fast; it doubles each "
             "time."),
    duration("dispatch.throttle_backoff_max_ms", "32000", 100, 3600000,
             dispatch<&dispatch_t::throttle_backoff_max>,
             "The longest such wait; at least throttle_backoff_first_ms."),
    duration("dispatch.brake_ms", "10000", 1000, 600000, dispatch<&dispatch_t::brake>,
             "How long a route is slowed after the provider refused for being too fast."),
    duration("dispatch.quota_cache_ms", "60000", 1000, 600000, dispatch<&dispatch_t::quota_cache>,
             "How long the provider's quota is believed."),
    count("dispatch.max_outcomes_waiting", "outcomes", "20000", 100, 200000,
          dispatch<&dispatch_t::max_outcomes_waiting>,
          "Above this number of outcomes not yet stored no further message is claimed."),
    duration("dispatch.poll_ms", "1000", 100, 60000, dispatch<&dispatch_t::poll>,
             "How often an idle shard looks for due messages when nobody wakes it."),

    duration("cluster.lease_ms", "6000", 1000, 60000, cluster<&cluster_settings::lease>,
             "How long a node owns a shard without renewing."),
    duration("cluster.margin_ms", "1000", 100, 10000, cluster<&cluster_settings::margin>,
             "How long before the lease ends its owner stops starting calls. Must be less than "
             "half of lease_ms."),
    duration("cluster.renew_ms", "1500", 100, 20000, cluster<&cluster_settings::renew>,
             "How often a lease is renewed. Must be less than half of lease_ms - margin_ms, so "
             "that one renewal may fail."),

    number("simulator.latency_ms", "ms", "170", 0, 60000, simulator<&simulator_t::latency>,
           "The mean time until it answers."),
    number("simulator.latency_jitter", "", "0.1", 0, 1, simulator<&simulator_t::latency_jitter>,
           "The spread of that time, as a share of it."),
    number("simulator.rate", "recipients/s", "5000", 0.02, 1e7, simulator<&simulator_t::rate>,
           "The maximum send rate that it reports."),
    number("simulator.tolerance", "", "1.15", 0.5, 1000, simulator<&simulator_t::tolerance>,
           "It refuses above this multiple of the reported rate."),
    count("simulator.daily_quota", "recipients", "0", 0, 1e12, simulator<&simulator_t::daily_quota>,
          "The most it accepts in 24 hours; 0 is unlimited."),
    text("simulator.ledger", "none", 4096, simulator<&simulator_t::ledger>,
         "File to which every accepted call is appended before it is answered."),
    count("simulator.seed", "", "1", 0, 9007199254740991, simulator<&simulator_t::seed>,
          "Beginning of its random numbers."),

    count("expansion.page", "recipients", "2000", 1, 20000, expansion<&expansion_settings::page>,
          "Recipients queued by one statement."),
    duration("expansion.buffer_ms", "10000", 100, 600000, expansion<&expansion_settings::buffer>,
             "For how long the messages queued ahead last at the current rate."),
    count("expansion.buffer_min", "messages", "400", 1, 1000000,
          expansion<&expansion_settings::buffer_min>, "The least queued ahead."),
    count("expansion.buffer_max", "messages", "20000", 1, 1000000,
          expansion<&expansion_settings::buffer_max>,
          "The most queued ahead; at least buffer_min."),

    count("recording.batch", "outcomes", "100", 1, 1000, recording<&recording_settings::batch>,
          "Outcomes stored by one statement."),
    duration("recording.delay_ms", "250", 1, 5000, recording<&recording_settings::delay>,
             "How long an outcome may wait for others to be stored with it."),
    count("recording.connections", "connections", "4", 1, 8,
          recording<&recording_settings::connections>, "Database connections that store outcomes."),

    preset(text("api.listen", "", 300, put<&settings::api, &listener_t::listen>,
                "Address and port, e.g. 127.0.0.1:8700 or [::]:8700; port 0 takes any free one; "
                "empty: no API on this node."),
           "127.0.0.1:8700"),
    count("api.threads", "", "64", 1, 512, put<&settings::api, &listener_t::threads>,
          "Requests answered at once; threads start as needed."),
    count("api.max_connections", "", "1024", 1, 20000,
          put<&settings::api, &listener_t::max_connections>,
          "Open connections; above it a new one is answered 503 and closed."),
    text(
        "api.tls_certificate", "none", 4096, put<&settings::api, &listener_t::tls_certificate>,
        "PEM file with the certificate chain; with tls_key it makes the listener speak HTTPS. Read "
        "again on SIGHUP."),
    text("api.tls_key", "none", 4096, put<&settings::api, &listener_t::tls_key>,
         "PEM file with the private key."),
    count("api.database_connections", "", "4", 1, 8, api<&api_settings::database_connections>,
          "Database connections that take messages in and answer questions."),

    text("feedback.listen", "none", 300, put<&settings::feedback, &listener_t::listen>,
         "Address and port; empty: not opened."),
    count("feedback.threads", "", "16", 1, 512, put<&settings::feedback, &listener_t::threads>,
          "Requests answered at once; threads start as needed."),
    count("feedback.max_connections", "", "1024", 1, 20000,
          put<&settings::feedback, &listener_t::max_connections>,
          "Open connections; above it a new one is answered 503 and closed."),
    text(
        "feedback.tls_certificate", "none", 4096,
        put<&settings::feedback, &listener_t::tls_certificate>,
        "PEM file with the certificate chain; with tls_key it makes the listener speak HTTPS. Read "
        "again on SIGHUP."),
    text("feedback.tls_key", "none", 4096, put<&settings::feedback, &listener_t::tls_key>,
         "PEM file with the private key."),

    preset(text("admin.listen", "", 300, put<&settings::admin, &listener_t::listen>,
                "Address and port; empty: no health and metrics on this node. Not for the public: "
                "there are no keys on it."),
           "127.0.0.1:8701"),
    count("admin.threads", "", "4", 1, 64, put<&settings::admin, &listener_t::threads>,
          "Requests answered at once; threads start as needed."),
    count("admin.max_connections", "", "64", 1, 20000,
          put<&settings::admin, &listener_t::max_connections>,
          "Open connections; above it a new one is answered 503 and closed."),
    text(
        "admin.tls_certificate", "none", 4096, put<&settings::admin, &listener_t::tls_certificate>,
        "PEM file with the certificate chain; with tls_key it makes the listener speak HTTPS. Read "
        "again on SIGHUP."),
    text("admin.tls_key", "none", 4096, put<&settings::admin, &listener_t::tls_key>,
         "PEM file with the private key."),

    count("http.max_body_bytes", "bytes", "16777216", 1024, 67108864, http<&http_t::max_body_bytes>,
          "The largest request body; above it the answer is 413."),
    count("http.max_body_bytes_in_flight", "bytes", "67108864", 1024, 1073741824,
          http<&http_t::max_body_bytes_in_flight>,
          "What the bodies of all requests under way may take together; above it the answer is "
          "503. At least max_body_bytes."),
    count("http.max_headers", "", "100", 10, 1000, http<&http_t::max_headers>,
          "Header lines of a request; above it the answer is 431."),
    count("http.max_header_bytes", "bytes", "32768", 1024, 1048576, http<&http_t::max_header_bytes>,
          "Request line and headers together; above it the answer is 431."),
    duration("http.header_timeout_ms", "10000", 100, 600000, http<&http_t::header_timeout>,
             "From the first byte of a request to the end of its headers, however they dribble."),
    duration("http.body_timeout_ms", "30000", 100, 600000, http<&http_t::body_timeout>,
             "From the end of the headers to the end of the body."),
    duration("http.write_timeout_ms", "30000", 100, 600000, http<&http_t::write_timeout>,
             "How long a client may take to read an answer."),
    duration("http.idle_timeout_ms", "60000", 100, 3600000, http<&http_t::idle_timeout>,
             "How long a connection may wait between two requests."),

    text("unsubscribe.base_url", "no links", 2048, unsubscribe<&unsubscribe_t::base_url>,
         "Where people reach the API listener, such as https://mail.example.com: campaign mail "
         "carries a link below it that unsubscribes with one click (RFC 8058). Needed where a "
         "route is live."),
    secret(list("unsubscribe.keys", unsubscribe<&unsubscribe_t::keys>,
                "Secrets of 32 or more octets that protect those links. The first makes new ones, "
                "all are accepted: put a new one in front and keep the old ones for months.")),
};

} // namespace

std::span<const option> all_options() {
  return options;
}

std::span<const option_section> all_sections() {
  return sections;
}

} // namespace paceline
