/// Every metric that a node shows. docs/metrics.md is made from this list; a test keeps it current
/// (PACELINE_UPDATE_REFERENCE=1 in its environment writes the page anew).
///
/// Units are Prometheus' base units: seconds, bytes. A rate is in recipients per second. Where a
/// message has several recipients, slots, rates and quota count recipients, all else messages.
#pragma once

#include <array>

#include "config/metric_family.hpp"

namespace paceline::metric {

/// A database statement or a request of ours to a provider that takes a while.
inline constexpr std::array<double, 12> seconds_of_call{.005, .01, .025, .05, .1, .25,
                                                        .5,   1,   2.5,  5,   10, 30};
/// How far from its slot a call starts; from 5 ms on the slot is lost at high rates.
inline constexpr std::array<double, 7> seconds_of_lateness{.0002, .0005, .001, .002,
                                                           .005,  .02,   .055};
inline constexpr std::array<double, 7> sizes_of_group{1, 2, 5, 10, 25, 50, 100};
inline constexpr std::array<double, 9> sizes_of_intake{1, 2, 5, 10, 25, 50, 100, 250, 1000};
inline constexpr std::array<double, 10> seconds_of_request{.001, .0025, .005, .01, .025,
                                                           .05,  .1,    .25,  1,   5};

// Messages --------------------------------------------------------------------

inline constexpr counter_family messages{
    "paceline_messages_total",
    {"route", "outcome"},
    "Attempts that ended and are stored, by outcome: accepted, throttled, rejected, unknown, "
    "not_started. A message that goes again counts at each attempt, and one whose answer comes "
    "after it was given up as unknown counts as both.",
    "`unknown` grows: the provider fails after it has been called, see operating.md. `rejected` "
    "grows faster than usual: bad addresses or content."};
inline constexpr counter_family messages_skipped{
    "paceline_messages_skipped_total",
    {"route", "stage"},
    "Messages read ahead and not attempted. Stage prepare: can't be rendered, or their content "
    "can't be read now; claim: suppressed, expired, canceled, paused or claimed by another.",
    "`prepare` grows: a template does not fit its fields."};
inline constexpr histogram_family group_size{
    "paceline_group_size", {"route"}, sizes_of_group, "Messages that one claim has taken."};

// Slots and calls -------------------------------------------------------------

inline constexpr counter_family slots_used{
    "paceline_slots_used_total",
    {"route"},
    "Slots in which a call started, one for each recipient. Its rate is the rate of sending.",
    "Its rate stays below 0.99 of `paceline_share_rate` while messages are due."};
inline constexpr counter_family slots_late{
    "paceline_slots_late_total",
    {"route"},
    "Of the used slots, those whose call started more than 1 ms after them.",
    "More than a few percent: the machine has no time for the courier."};
inline constexpr counter_family slots_lost{
    "paceline_slots_lost_total",
    {"route"},
    "Slots that passed unused although a message had been put there; it gets another one.",
    "More than 0.3 % of the used ones: the node or its database connection stalls."};
inline constexpr histogram_family start_lateness{"paceline_start_lateness_seconds",
                                                 {"route"},
                                                 seconds_of_lateness,
                                                 "How long after its slot a call started."};
inline constexpr gauge_family orders_waiting{
    "paceline_orders_waiting", {}, "Claimed messages whose slots have not come yet."};
inline constexpr gauge_family calls_in_flight{"paceline_calls_in_flight",
                                              {"route"},
                                              "Calls that the provider has not answered yet.",
                                              "Rises without an end: the provider hangs."};
inline constexpr histogram_family call_seconds{
    "paceline_call_seconds",
    {"route", "outcome"},
    seconds_of_call,
    "From the start of a call to its end, by outcome. A call that was given up ends then.",
    "A 99th percentile of accepted calls near `dispatch.call_timeout_ms`."};

// Pace ------------------------------------------------------------------------

inline constexpr gauge_family target_rate{
    "paceline_target_rate",
    {"route"},
    "The whole route's target in force, as last read from the database; the same on every node.",
    "0 while messages are due."};
inline constexpr gauge_family share_rate{
    "paceline_share_rate",
    {"route"},
    "The part of the target that belongs to the shards of this node."};
inline constexpr gauge_family quota_rate{
    "paceline_quota_rate", {"route"}, "The provider's maximum send rate as last heard."};
inline constexpr gauge_family daily_quota{
    "paceline_daily_quota",
    {"route"},
    "Recipients that the provider allows in 24 h, as this node last heard; +Inf: any number."};
inline constexpr gauge_family daily_sent{
    "paceline_daily_sent",
    {"route"},
    "Recipients of the last 24 h by the provider's count, as this node last heard.",
    "More than 0.9 of `paceline_daily_quota`."};
inline constexpr gauge_family daily_grant_left{
    "paceline_daily_grant_left",
    {"route"},
    "Recipients drawn from the daily quota by this node's shards and not used yet; 0 where the "
    "day has no limit."};
inline constexpr gauge_family braked{
    "paceline_braked",
    {"route"},
    "1 while a brake is in force, otherwise 0.",
    "1 for more than a minute: the target is above what the provider takes."};
inline constexpr counter_family refusals{
    "paceline_refusals_total",
    {"route", "refusal"},
    "Refusals that concern the whole route, heard by this node: rate, daily_quota, "
    "sending_paused. Those that arrive within one second are one.",
    "Any `sending_paused`; `rate` again and again."};
inline constexpr gauge_family route_state{
    "paceline_route_state",
    {"route", "state"},
    "1 for the state that the route is in, 0 for the others: running, waiting (for the daily "
    "quota), stopped (by the provider), paused (by an operator).",
    "`stopped` is 1."};
inline constexpr gauge_family breaker{
    "paceline_breaker",
    {"route", "state"},
    "1 for the state of this node's breaker of the route, 0 for the others: closed (all is well), "
    "waiting, probing, stopped.",
    "Any but `closed` for more than a minute: the provider is down for this node."};

// Ownership -------------------------------------------------------------------

inline constexpr gauge_family shards{"paceline_shards", {"route"}, "Shards that the route has."};
inline constexpr gauge_family shards_owned{
    "paceline_shards_owned",
    {"route"},
    "Shards of the route that this node runs.",
    "Summed over all nodes less than `paceline_shards` for more than 10 s."};
inline constexpr gauge_family clock_error{
    "paceline_clock_error_seconds",
    {},
    "How far this node's estimate of the database's clock may be from the truth.",
    "Above 0.003: the node starts nothing. The way to the database is slow or unsteady."};

// Database --------------------------------------------------------------------

inline constexpr gauge_family outcomes_waiting{
    "paceline_outcomes_waiting",
    {},
    "Outcomes that are not stored yet.",
    "Near `dispatch.max_outcomes_waiting`: nothing more is claimed beyond it."};
inline constexpr histogram_family record_batch_size{
    "paceline_record_batch_size", {}, sizes_of_group, "Outcomes stored by one statement."};
inline constexpr counter_family statements{
    "paceline_statements_total", {"query"}, "Statements sent to the database, by query name."};
inline constexpr counter_family statement_errors{
    "paceline_statement_errors_total",
    {"query"},
    "Statements that failed.",
    "Any `claim_group` or `record_outcomes` that keeps failing."};
inline constexpr counter_family statement_seconds{
    "paceline_statement_seconds_total",
    {"query"},
    "Time until their answers. Divided by the statements: the mean.",
    "A mean that doubles: bloat, a lost plan, a slow disk."};
inline constexpr gauge_family database_queue{
    "paceline_database_queue",
    {"pool"},
    "Tasks that wait for a connection of the pool; `shard` is all shards' pools together.",
    "Above 0 all the time: the pool is too small or the database too slow."};
inline constexpr gauge_family database_connections{
    "paceline_database_connections", {"pool"}, "Connections that the pool may use."};
inline constexpr gauge_family database_connections_busy{
    "paceline_database_connections_busy", {"pool"}, "Connections at work now."};

// Requests --------------------------------------------------------------------

inline constexpr gauge_family http_connections{
    "paceline_http_connections", {"listener"}, "Open connections: api, feedback, admin."};
inline constexpr gauge_family http_threads_busy{"paceline_http_threads_busy",
                                                {"listener"},
                                                "Threads that serve a request now.",
                                                "As many as `threads` all the time: clients wait."};
inline constexpr counter_family http_requests{
    "paceline_http_requests_total", {"listener"}, "Requests that were read."};
inline constexpr counter_family http_refused_connections{
    "paceline_http_refused_connections_total",
    {"listener"},
    "Connections closed because there were too many.",
    "Any: an attack, or clients that don't keep their connections."};
inline constexpr counter_family http_timed_out{
    "paceline_http_timed_out_total",
    {"listener"},
    "Requests cut off because their headers, body or answer took too long."};
inline constexpr counter_family http_too_large{
    "paceline_http_too_large_total",
    {"listener"},
    "Requests refused because headers or body exceed a bound."};
inline constexpr counter_family api_requests{
    "paceline_api_requests_total",
    {"pattern", "status"},
    "Requests by the path's pattern and the class of the answer's status (2xx, 4xx, 5xx).",
    "Any 5xx."};
inline constexpr histogram_family api_seconds{
    "paceline_api_request_seconds",
    {"pattern"},
    seconds_of_request,
    "From a request that is read to its answer, before it is written."};
inline constexpr histogram_family intake_group_size{
    "paceline_intake_group_size",
    {},
    sizes_of_intake,
    "Single sends that were stored by one statement."};

// The process, by the names that all Prometheus clients use -------------------

inline constexpr gauge_family process_resident{
    "process_resident_memory_bytes", {}, "Resident memory.", "Grows for days."};
inline constexpr gauge_family process_open_fds{
    "process_open_fds", {}, "Open file descriptors.", "Near `process_max_fds`."};
inline constexpr gauge_family process_max_fds{
    "process_max_fds", {}, "File descriptors that may be open."};
inline constexpr gauge_family process_threads{"process_threads", {}, "Threads."};
inline constexpr counter_family process_cpu{
    "process_cpu_seconds_total", {}, "CPU time, user and system."};
inline constexpr gauge_family process_start{"process_start_time_seconds",
                                            {},
                                            "When the process began, in seconds since 1970.",
                                            "Changes often: the node restarts."};

} // namespace paceline::metric
