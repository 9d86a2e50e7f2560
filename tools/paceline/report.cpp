#include "tools/paceline/report.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "config/text.hpp"
#include "tools/paceline/chart.hpp"

namespace paceline {
namespace {

std::optional<double> difference(std::optional<double> later, std::optional<double> earlier) {
  if (!later || !earlier)
    return std::nullopt;
  return *later - *earlier;
}

std::optional<double> median_of(const std::vector<std::int64_t>& sorted) {
  if (sorted.empty())
    return std::nullopt;
  const auto middle = sorted.size() / 2;
  const auto upper = static_cast<double>(sorted[middle]);
  if (sorted.size() % 2 == 1)
    return upper;
  return (static_cast<double>(sorted[middle - 1]) + upper) / 2;
}

std::optional<double> nearest_rank(const std::vector<std::int64_t>& sorted, double share) {
  if (sorted.empty())
    return std::nullopt;
  const auto rank =
      static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size()) - 1e-9));
  return static_cast<double>(sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1]);
}

std::string_view name_of(route_state state) {
  switch (state) {
  case route_state::running:
    return "running";
  case route_state::waiting:
    return "waiting";
  case route_state::stopped:
    return "stopped";
  case route_state::paused:
    return "paused";
  }
  return {};
}

/// Open after the end: must never be more than 0.
std::optional<std::int64_t> stranded(const campaign_view& campaign) {
  if (!is_over(campaign))
    return std::nullopt;
  return campaign.state == "finished" ? campaign.open + campaign.audience - campaign.expanded
                                      : campaign.open;
}

struct figure_row {
  std::string name, value, meaning;
};

std::string aligned(const std::vector<figure_row>& rows, const terminal& on) {
  std::size_t names = 0, values = 0;
  for (const auto& row : rows) {
    names = std::max(names, display_width(row.name));
    values = std::max(values, display_width(row.value));
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line = "  " + row.name + std::string(names - display_width(row.name), ' ');
    line += "  " + std::string(values - display_width(row.value), ' ') + row.value;
    if (!row.meaning.empty())
      line += "  " + painted(on, color::dim, row.meaning);
    out += line + "\n";
  }
  return out;
}

std::vector<figure_row> count_rows(const campaign_view& campaign) {
  std::vector<figure_row> rows{{"recipients", grouped(campaign.audience), ""}};
  const auto add = [&rows](const char* name, std::int64_t number, const char* meaning) {
    if (number != 0)
      rows.push_back({name, grouped(number), meaning});
  };
  add("not yet expanded", campaign.audience - campaign.expanded, "");
  add("open", campaign.open, "queued or attempting");
  rows.push_back({"accepted", grouped(campaign.accepted), "by the provider, and later states"});
  add("rejected", campaign.rejected, "");
  add("suppressed", campaign.suppressed, "");
  add("canceled", campaign.canceled, "");
  add("expired", campaign.expired, "");
  add("throttled", campaign.throttled,
      "refused or unreachable for now; each went back to the queue");
  return rows;
}

std::vector<figure_row> figure_rows(const campaign_report& report) {
  const auto& campaign = report.campaign;
  const auto span = difference(campaign.last_start_s, campaign.first_start_s);
  const auto figures = figures_of(report.dispatched, span);
  const auto left = stranded(campaign);
  return {
      {"mean", rate_text(figures.mean), "from the first start to the last"},
      {"median", rate_text(figures.median), "of whole seconds"},
      {"p90", rate_text(figures.p90), "of whole seconds"},
      {"peak", rate_text(static_cast<double>(figures.peak)), "the busiest second"},
      {"target", rate_text(campaign.target_per_second), "of the route, now"},
      {"idle", grouped(figures.idle_seconds) + " s", "seconds without a start"},
      {"start latency", seconds_text(campaign.first_start_s),
       "from the request to the first start"},
      {"all recorded", seconds_text(campaign.last_record_s),
       "from the request to the last stored outcome"},
      {"recording tail", seconds_text(difference(campaign.last_record_s, campaign.last_start_s)),
       "from the last start to the last stored outcome"},
      {"unknown", grouped(campaign.unknown), "nobody can tell whether the provider took it"},
      {"stranded", left ? grouped(*left) : "-", "still open after the end"},
  };
}

} // namespace

curve_figures figures_of(const curve& dispatched, std::optional<double> span_s) {
  curve_figures figures;
  const auto& starts = dispatched.starts;
  figures.starts = std::accumulate(starts.begin(), starts.end(), std::int64_t{0});
  if (figures.starts >= 2 && span_s && *span_s > 0)
    figures.mean = static_cast<double>(figures.starts - 1) / *span_s;
  if (starts.empty())
    return figures;
  figures.peak = *std::max_element(starts.begin(), starts.end());
  figures.idle_seconds = std::count(starts.begin(), starts.end(), 0);
  if (starts.size() > 2) {
    std::vector<std::int64_t> whole(starts.begin() + 1, starts.end() - 1);
    std::sort(whole.begin(), whole.end());
    figures.median = median_of(whole);
    figures.p90 = nearest_rank(whole, 0.9);
  }
  return figures;
}

bool is_settled(const campaign_view& campaign) {
  return campaign.open == 0 && campaign.unknown == 0 && campaign.expanded == campaign.audience;
}

bool is_over(const campaign_view& campaign) {
  return campaign.state == "finished" || campaign.state == "failed"
         || (campaign.state == "canceled" && campaign.open == 0);
}

std::string report_text(const campaign_report& report, const terminal& on) {
  const auto& campaign = report.campaign;
  std::string head = "Campaign " + std::to_string(campaign.id.value());
  if (!campaign.name.empty())
    head += " \"" + printable(campaign.name) + "\"";
  head += " on " + campaign.route + ": ";
  const bool fine = campaign.state == "finished" && is_settled(campaign);
  const bool bad = is_over(campaign) && !fine;
  head += fine  ? painted(on, color::green, campaign.state)
          : bad ? painted(on, color::yellow, campaign.state)
                : campaign.state;
  return head + "\n" + reasons_text(campaign, on) + "\n" + aligned(count_rows(campaign), on) + "\n"
         + aligned(figure_rows(report), on);
}

std::string reasons_text(const campaign_view& campaign, const terminal& on) {
  std::string out;
  if (!campaign.state_reason.empty())
    out += painted(on, color::red,
                   "It is " + campaign.state + ": " + printable(campaign.state_reason, 400))
           + "\n";
  if (is_over(campaign))
    return out;
  if (campaign.at_route == route_state::running && !campaign.route_reason.empty())
    out += painted(on, color::red, "The provider fails: " + printable(campaign.route_reason, 400))
           + "\n";
  else if (campaign.at_route != route_state::running)
    out += painted(on, color::red,
                   campaign.route + " is " + std::string{name_of(campaign.at_route)} + ": "
                       + (campaign.route_reason.empty() ? "no reason was given"
                                                        : printable(campaign.route_reason, 400)))
           + "\n";
  return out;
}

void reasons_json(json_text& out, const campaign_view& campaign) {
  out.text_or_null("state_reason", campaign.state_reason);
  out.member("route_state", name_of(campaign.at_route));
  out.text_or_null("route_reason", campaign.route_reason);
}

std::string report_chart(const campaign_report& report, const terminal& on) {
  chart_options options;
  options.width = on.width;
  options.utf8 = on.has_utf8;
  options.target_per_second = report.campaign.target_per_second;
  return "Starts per second\n" + draw_chart(report.dispatched.starts, options);
}

void counts_json(json_text& out, const campaign_view& campaign) {
  out.key("counts").begin_object();
  out.member("audience", campaign.audience).member("expanded", campaign.expanded);
  out.member("open", campaign.open).member("unknown", campaign.unknown);
  out.member("accepted", campaign.accepted).member("rejected", campaign.rejected);
  out.member("suppressed", campaign.suppressed).member("canceled", campaign.canceled);
  out.member("expired", campaign.expired).member("throttled", campaign.throttled);
  out.end_object();
}

void report_json(json_text& out, const campaign_report& report) {
  const auto& campaign = report.campaign;
  const auto figures =
      figures_of(report.dispatched, difference(campaign.last_start_s, campaign.first_start_s));
  out.begin_object().id("campaign", campaign.id).member("name", campaign.name);
  out.member("route", campaign.route).member("state", campaign.state);
  reasons_json(out, campaign);
  out.member("settled", is_settled(campaign));
  out.text_or_null("requested_at", campaign.requested_at);
  out.text_or_null("finished_at", campaign.finished_at);
  counts_json(out, campaign);
  out.key("figures").begin_object();
  out.member("starts", figures.starts).member("mean_per_second", figures.mean);
  out.member("median_per_second", figures.median).member("p90_per_second", figures.p90);
  out.member("peak_per_second", figures.peak);
  out.member("target_per_second", campaign.target_per_second);
  out.member("idle_seconds", figures.idle_seconds);
  out.member("start_latency_s", campaign.first_start_s);
  out.member("all_recorded_s", campaign.last_record_s);
  out.member("recording_tail_s", difference(campaign.last_record_s, campaign.last_start_s));
  out.member("unknown", campaign.unknown).member("stranded", stranded(campaign)).end_object();
  out.key("curve").begin_object().member("first_second", report.dispatched.first_second);
  out.key("starts").begin_array();
  for (const auto starts : report.dispatched.starts)
    out.value(starts);
  out.end_array().end_object().end_object();
}

} // namespace paceline
