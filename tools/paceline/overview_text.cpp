#include "tools/paceline/overview_text.hpp"

#include "config/text.hpp"
#include "tools/paceline/nodes.hpp"

namespace paceline {
namespace {

std::string state_text(const route_overview& route) {
  return route.state == "waiting" ? "waiting " + seconds_text(route.waiting_left_s) : route.state;
}

std::string sent_text(const quota_reading& quota) {
  return grouped(quota.sent_24h) + " of "
         + (quota.max_24h < 0 ? std::string{"unlimited"} : grouped(quota.max_24h));
}

} // namespace

std::string routes_text(const overview& seen, const terminal& on) {
  table rows{{{"ROUTE"},
              {"STATE"},
              {"TARGET", align::right},
              {"RATE NOW", align::right},
              {"QUOTA", align::right},
              {"SENT IN 24 H", align::right},
              {"QUOTA AGE", align::right},
              {"BRAKE", align::right},
              {"SET BY OPERATOR", align::right}}};
  std::string notes;
  for (const auto& route : seen.routes) {
    auto target = rate_text(route.target.per_second());
    if (route.next_target && *route.next_target != route.target)
      target += ", then " + rate_text(route.next_target->per_second());
    rows.add({route.name.text(), state_text(route), target, rate_text(route.rate_now),
              route.quota ? rate_text(route.quota->max_send_rate.per_second()) : "",
              route.quota ? sent_text(*route.quota) : "", seconds_text(route.quota_age_s),
              route.brake_left_s > 0 ? seconds_text(route.brake_left_s) : "",
              route.override_rate ? rate_text(route.override_rate->per_second()) : ""});
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
  if (rows.is_empty())
    return "No stream has anything to send, and nothing is unknown.\n";
  std::string notes;
  for (const auto& stream : seen.streams)
    if (!stream.state_reason.empty())
      notes += "Stream " + std::to_string(stream.id.value()) + " is " + stream.state + ": "
               + printable(stream.state_reason, 400) + "\n";
  return rows.text() + notes;
}

std::string nodes_text(const std::vector<node_status>& nodes) {
  table rows{{{"NODE"},
              {"NAME"},
              {"STATE"},
              {"SHARDS", align::right},
              {"IN FLIGHT", align::right},
              {"VERSION"},
              {"STARTED"},
              {"SEEN", align::right}}};
  for (const auto& node : nodes)
    rows.add({std::to_string(node.id.value()), printable(node.name), std::string{node_state(node)},
              grouped(node.shards), grouped(node.in_flight), printable(node.version),
              node.started_at, seconds_text(node.seen_ago_s) + " ago"});
  return rows.is_empty() ? "No node is running: start `paceline serve`.\n" : rows.text();
}

std::string overview_text(const overview& seen, const terminal& on) {
  if (seen.routes.empty())
    return "There is no route yet: `paceline migrate` makes those of the configuration.\n";
  return routes_text(seen, on) + "\n" + shards_text(seen) + "\n" + streams_text(seen) + "\n"
         + nodes_text(seen.nodes);
}

void routes_json(json_text& out, const overview& seen) {
  out.begin_array();
  for (const auto& route : seen.routes) {
    out.begin_object().member("route", route.name.text()).member("state", route.state);
    out.text_or_null("state_reason", route.state_reason);
    out.member("waiting_left_s", route.waiting_left_s).member("generation", route.generation);
    out.member("shards", route.shard_count);
    out.member("target_per_second", route.target.per_second());
    out.key("next_target_per_second");
    route.next_target ? out.value(route.next_target->per_second()) : out.null();
    out.key("operator_rate_per_second");
    route.override_rate ? out.value(route.override_rate->per_second()) : out.null();
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

void shards_json(json_text& out, const overview& seen) {
  out.begin_array();
  for (const auto& shard : seen.shards) {
    out.begin_object();
    out.member("shard", shard_name{shard.route, shard.index, shard.count}.text());
    out.member("route", shard.route.text()).member("index", shard.index);
    out.member("count", shard.count).text_or_null("owner", shard.owner);
    out.id("owner_id", shard.owner_id).id("epoch", shard.epoch);
    out.member("in_flight", shard.in_flight).end_object();
  }
  out.end_array();
}

void nodes_json(json_text& out, const std::vector<node_status>& nodes) {
  out.begin_array();
  for (const auto& node : nodes) {
    out.begin_object().id("node", node.id).member("name", node.name);
    out.member("state", node_state(node)).member("shards", node.shards);
    out.member("in_flight", node.in_flight).member("version", node.version);
    out.member("started_at", node.started_at).member("seen_ago_s", node.seen_ago_s).end_object();
  }
  out.end_array();
}

void overview_json(json_text& out, const overview& seen) {
  out.begin_object().key("routes");
  routes_json(out, seen);
  out.key("shards");
  shards_json(out, seen);
  out.key("streams").begin_array();
  for (const auto& stream : seen.streams) {
    out.begin_object().id("stream", stream.id).member("route", stream.route.text());
    out.member("kind", stream.kind).text_or_null("name", stream.name);
    out.member("state", stream.state).member("priority", stream.priority);
    out.member("weight", stream.weight).member("not_expanded", stream.not_expanded);
    out.member("open", stream.open).member("unknown", stream.unknown).end_object();
  }
  out.end_array().key("nodes");
  nodes_json(out, seen.nodes);
  out.end_object();
}

} // namespace paceline
