#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <utility>

#include "config/text.hpp"
#include "storage/campaigns.hpp"
#include "tools/paceline/operator_name.hpp"
#include "tools/paceline/output.hpp"
#include "tools/paceline/send.hpp"
#include "tools/paceline/show.hpp"
#include "tools/paceline/skipped_rows.hpp"
#include "tools/paceline/unseen_fields.hpp"
#include "tools/paceline/watch.hpp"
#include "transport/mail/audience_csv.hpp"

namespace paceline {
namespace {

/// What was stored.
struct started_campaign {
  stream_id id;
  std::int64_t audience = 0, skipped = 0;
};

std::string campaign_name(const send_options& options) {
  return options.name.empty() ? std::filesystem::path{options.csv}.stem().string() : options.name;
}

new_campaign campaign_of(const send_options& options, content what, route_id route) {
  new_campaign campaign;
  campaign.name = campaign_name(options);
  campaign.route = route;
  campaign.what = std::move(what);
  campaign.priority = static_cast<std::int16_t>(options.priority.value_or(10));
  campaign.weight = options.weight.value_or(100);
  if (options.rate_cap)
    campaign.rate_cap = rate::per_second(*options.rate_cap);
  return campaign;
}

/// The first usable row, tried with the templates, and then the others.
class tried_audience {
public:
  tried_audience(audience_csv& rows, const content& what) : rows_(rows), unseen_(what) {}

  result<done> try_first(const content& what) {
    auto member = rows_.next();
    if (!member)
      return member.failure();
    if (!*member)
      return error{error_kind::invalid, "The CSV file has no usable row, so nobody would get it."};
    first_ = std::move(*member);
    if (auto tried = try_message(what, {first_->recipient}, first_->fields); !tried)
      return error{tried.failure().kind, "With the first recipient: " + tried.failure().text};
    return done{};
  }

  result<std::optional<audience_member>> next() {
    auto member = first_ ? std::exchange(first_, std::nullopt) : rows_.next();
    if (member && *member)
      unseen_.note((*member)->fields);
    else if (member)
      warn();
    return member;
  }

private:
  void warn() const {
    if (const auto warning = unseen_.warning(); !warning.empty())
      say(warning);
  }

  audience_csv& rows_;
  unseen_fields unseen_;
  std::optional<audience_member> first_;
};

void say_started(const send_options& options, const started_campaign& started) {
  const auto line =
      "Campaign " + std::to_string(started.id.value()) + " for "
      + counted(started.audience, "recipient") + " on " + options.route + " is stored and goes out"
      + (started.skipped > 0 ? "; " + counted(started.skipped, "row") + " skipped" : std::string{})
      + ".\n";
  // With --json standard output is for the object alone.
  if (!options.as_json)
    print(line);
  std::fflush(stdout);
}

void print_json(const send_options& options, const started_campaign& started,
                const campaign_report* report) {
  if (!options.as_json)
    return;
  json_text out;
  out.begin_object().id("campaign", started.id).member("route", options.route);
  out.member("audience", started.audience).member("skipped", started.skipped).key("report");
  if (report)
    report_json(out, *report);
  else
    out.null();
  print(out.end_object().line());
}

int finish_watching(program& with, const send_options& options, const settings& values,
                    const started_campaign& started) {
  const auto id = std::to_string(started.id.value());
  const auto seen = watch_campaign(with, values, started.id);
  if (seen.end == watch_end::interrupted) {
    print_json(options, started, nullptr);
    say("stopped watching; the campaign goes on. `paceline campaigns show " + id + "` shows it;");
    say("`paceline campaigns cancel " + id + "` stops it.");
    return exit_interrupted;
  }
  if (seen.end == watch_end::failed) {
    print_json(options, started, nullptr);
    say("The campaign is stored and goes on; `paceline campaigns show " + id + "` shows it.");
    return say_error(seen.why);
  }
  auto on = with.connect(values);
  if (!on)
    return say_error(on.failure());
  const auto report = read_report(**on, started.id);
  if (!report)
    return say_error(report.failure());
  print_json(options, started, &*report);
  if (!options.as_json) {
    print("\n");
    show_report(*report);
  }
  if (const auto saved = save_picture(*report, options.png); !saved)
    return say_error(saved.failure());
  if (is_settled(report->campaign))
    return exit_fine;
  say(report->campaign.state == "canceled"
          ? "the campaign was canceled before everybody got it"
          : "not every recipient is in a final state: see unknown and stranded");
  return exit_failed;
}

int store_and_watch(program& with, const send_options& options, content what, audience_csv& rows,
                    tried_audience& audience, skipped_rows& skipped) {
  int status = exit_fine;
  auto place = open_place(with, options, status);
  if (!place)
    return status;
  auto ids = make_id_source(*place->on);
  if (!ids)
    return say_error(ids.failure());
  const auto stored = start_campaign(
      *place->on, *ids, campaign_of(options, std::move(what), place->route),
      [&audience] { return audience.next(); }, operator_name());
  const auto reported = skipped.close();
  if (!stored)
    return say_store_error(stored.failure(), "paceline campaigns list");
  wake(*place->on, options.route);
  if (!reported) // the campaign goes out all the same
    say(reported.failure().text);
  const started_campaign started{*stored, rows.read() - rows.skipped(), rows.skipped()};
  say_started(options, started);
  if (options.wait)
    return finish_watching(with, options, place->values, started);
  print_json(options, started, nullptr);
  return exit_fine;
}

} // namespace

int run_send_campaign(program& with, const send_options& options) {
  auto what = read_content(options);
  if (!what)
    return say_error(what.failure());
  std::ifstream file;
  if (options.csv != "-") {
    file.open(options.csv, std::ios::binary);
    if (!file)
      return say_error({error_kind::invalid, "Can't read " + printable(options.csv) + ": "
                                                 + std::strerror(errno) + "."});
  }
  skipped_rows skipped;
  if (const auto opened = skipped.open(options.skipped_file); !opened)
    return say_error(opened.failure());
  audience_csv rows{options.csv == "-" ? std::cin : file,
                    [&skipped](const skipped_row& row) { skipped.report(row); }};
  tried_audience audience{rows, *what};
  if (const auto tried = audience.try_first(*what); !tried) {
    const int status = say_error(tried.failure());
    say("Nothing was stored.");
    return status;
  }
  return store_and_watch(with, options, std::move(*what), rows, audience, skipped);
}

} // namespace paceline
