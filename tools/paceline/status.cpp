#include <CLI/CLI.hpp>

#include <memory>

#include "config/text.hpp"
#include "storage/overview.hpp"
#include "tools/paceline/commands.hpp"
#include "tools/paceline/json.hpp"
#include "tools/paceline/output.hpp"
#include "tools/paceline/program.hpp"

namespace paceline {
namespace {

std::string state_text(const route_overview& route) {
  return route.state == "waiting" ? "waiting " + seconds_text(route.waiting_left_s) : route.state;
}

std::string sent_text(const quota_reading& quota) {
  return grouped(quota.sent_24h) + " of "
         + (quota.max_24h < 0 ? std::string{"unlimited"} : grouped(quota.max_24h));
}

std::string routes_text(const overview& seen, const terminal& on) {
  table rows{{{"ROUTE"},
              {"STATE"},
              {"TARGET", align::right},
              {"RATE NOW", align::right},
              {"QUOTA", align::right},
              {"SENT IN 24 H", align::right},
              {"QUOTA AGE", align::right},
              {"BRAKE", align::right}}};
  std::string notes;
  for (const auto& route : seen.routes) {
    auto target = rate_text(route.target.per_second());
    if (route.next_target && *route.next_target != route.target)
      target += ", then " + rate_text(route.next_target->per_second());
    rows.add({route.name.text(), state_text(route), target, rate_text(route.rate_now),
              route.quota ? rate_text(route.quota->max_send_rate.per_second()) : "",
              route.quota ? sent_text(*route.quota) : "", seconds_text(route.quota_age_s),
              route.brake_left_s > 0 ? seconds_text(route.brake_left_s) : ""});
    if (!route.state_reason.empty())
      notes += painted(on, color::red,
                       route.name.text() + " is " + route.state + ": "
                           + printable(route.state_reason, 400))
               + "\n";
  }
  return rows.text() + notes;
}

std::string shards_text(const overview& seen) {
  table rows{{{"SHARD"}, {"OWNER"}, {"EPOCH", align::right}, {"IN FLIGHT", align::right}}};
  for (const auto& shard : seen.shards)
    rows.add({shard_name{shard.route, shard.index, shard.count}.text(), printable(shard.owner),
              shard.epoch.value() == 0 ? "" : std::to_string(shard.epoch.value()),
              grouped(shard.in_flight)});
  return rows.text();
}

std::string streams_text(const overview& seen) {
  table rows{{{"STREAM"},
              {"ROUTE"},
              {"KIND"},
              {"STATE"},
              {"PRIORITY", align::right},
              {"WEIGHT", align::right},
              {"BACKLOG", align::right},
              {"UNKNOWN", align::right},
              {"NAME"}}};
  for (const auto& stream : seen.streams)
    rows.add({std::to_string(stream.id.value()), stream.route.text(), stream.kind, stream.state,
              std::to_string(stream.priority), std::to_string(stream.weight),
              grouped(stream.not_expanded + stream.open), grouped(stream.unknown),
              printable(stream.name, 40)});
  return rows.is_empty() ? "No stream has anything to send, and nothing is unknown.\n"
                         : rows.text();
}

std::string nodes_text(const overview& seen) {
  table rows{{{"NODE"}, {"NAME"}, {"VERSION"}, {"STARTED"}, {"SEEN", align::right}}};
  for (const auto& node : seen.nodes)
    rows.add({std::to_string(node.id.value()), printable(node.name), printable(node.version),
              node.started_at, seconds_text(node.seen_ago_s) + " ago"});
  return rows.is_empty() ? "No node is running: start `paceline serve`.\n" : rows.text();
}

void routes_json(json_text& out, const overview& seen) {
  out.key("routes").begin_array();
  for (const auto& route : seen.routes) {
    out.begin_object().member("route", route.name.text()).member("state", route.state);
    out.text_or_null("state_reason", route.state_reason);
    out.member("waiting_left_s", route.waiting_left_s).member("generation", route.generation);
    out.member("shards", route.shard_count);
    out.member("target_per_second", route.target.per_second());
    out.key("next_target_per_second");
    route.next_target ? out.value(route.next_target->per_second()) : out.null();
    out.member("rate_now_per_second", route.rate_now).member("brake_left_s", route.brake_left_s);
    out.key("quota");
    if (route.quota) {
      out.begin_object().member("max_per_second", route.quota->max_send_rate.per_second());
      out.key("max_24h");
      route.quota->max_24h < 0 ? out.null() : out.value(route.quota->max_24h);
      out.member("sent_24h", route.quota->sent_24h).member("age_s", route.quota_age_s);
      out.end_object();
    } else {
      out.null();
    }
    out.end_object();
  }
  out.end_array();
}

std::string status_json(const overview& seen) {
  json_text out;
  out.begin_object();
  routes_json(out, seen);
  out.key("shards").begin_array();
  for (const auto& shard : seen.shards) {
    out.begin_object();
    out.member("shard", shard_name{shard.route, shard.index, shard.count}.text());
    out.member("route", shard.route.text()).member("index", shard.index);
    out.member("count", shard.count).text_or_null("owner", shard.owner);
    out.id("owner_id", shard.owner_id).id("epoch", shard.epoch);
    out.member("in_flight", shard.in_flight).end_object();
  }
  out.end_array().key("streams").begin_array();
  for (const auto& stream : seen.streams) {
    out.begin_object().id("stream", stream.id).member("route", stream.route.text());
    out.member("kind", stream.kind).text_or_null("name", stream.name);
    out.member("state", stream.state).member("priority", stream.priority);
    out.member("weight", stream.weight).member("not_expanded", stream.not_expanded);
    out.member("open", stream.open).member("unknown", stream.unknown).end_object();
  }
  out.end_array().key("nodes").begin_array();
  for (const auto& node : seen.nodes) {
    out.begin_object().id("node", node.id).member("name", node.name);
    out.member("version", node.version).member("started_at", node.started_at);
    out.member("seen_ago_s", node.seen_ago_s).end_object();
  }
  return out.end_array().end_object().line();
}

int run_status(program& with, bool as_json) {
  const auto values = with.configured();
  if (!values)
    return exit_wrong_use;
  auto on = with.connect(*values);
  if (!on)
    return say_error(on.failure());
  const auto seen = read_overview(**on);
  if (!seen)
    return say_error(seen.failure());
  if (as_json)
    print(status_json(*seen));
  else if (seen->routes.empty())
    print("There is no route yet: `paceline migrate` makes those of the configuration.\n");
  else
    print(routes_text(*seen, describe_terminal(1)) + "\n" + shards_text(*seen) + "\n"
          + streams_text(*seen) + "\n" + nodes_text(*seen));
  return exit_fine;
}

} // namespace

void add_status(CLI::App& app, program& with) {
  auto* const status =
      app.add_subcommand("status", "Show routes, shards, what waits, what is unknown, and nodes");
  const auto as_json = std::make_shared<bool>(false);
  status->add_flag("--json", *as_json, "Print JSON");
  status->footer(
      "RATE NOW is the mean of two whole seconds, of what is recorded. BACKLOG counts what "
      "is queued,\nattempting or not yet expanded.\n"
      "\n"
      "Examples:\n"
      "  paceline status\n"
      "  watch -n 1 paceline status\n"
      "  paceline status --json | jq '.routes[].rate_now_per_second'");
  status->callback(
      [&with, as_json] { with.chosen = [&with, as_json] { return run_status(with, *as_json); }; });
}

} // namespace paceline
