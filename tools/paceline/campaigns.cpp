#include <CLI/CLI.hpp>

#include <memory>

#include "config/text.hpp"
#include "storage/wake_listener.hpp"
#include "tools/paceline/arguments.hpp"
#include "tools/paceline/commands.hpp"
#include "tools/paceline/operator_name.hpp"
#include "tools/paceline/output.hpp"
#include "tools/paceline/program.hpp"
#include "tools/paceline/show.hpp"

namespace paceline {
namespace {

struct campaign_options {
  std::string id, png;
  std::int32_t limit = 50;
  bool as_json = false;
};
using shared_campaign_options = std::shared_ptr<campaign_options>;

std::string list_json(const std::vector<campaign_view>& campaigns) {
  json_text out;
  out.begin_array();
  for (const auto& campaign : campaigns) {
    out.begin_object().id("campaign", campaign.id).member("name", campaign.name);
    out.member("route", campaign.route).member("state", campaign.state);
    reasons_json(out, campaign);
    out.text_or_null("requested_at", campaign.requested_at);
    out.text_or_null("finished_at", campaign.finished_at);
    counts_json(out, campaign);
    out.end_object();
  }
  return out.end_array().line();
}

std::string list_text(const std::vector<campaign_view>& campaigns) {
  table rows{{{"CAMPAIGN"},
              {"ROUTE"},
              {"STATE"},
              {"RECIPIENTS", align::right},
              {"LEFT", align::right},
              {"ACCEPTED", align::right},
              {"UNKNOWN", align::right},
              {"REQUESTED"},
              {"NAME"}}};
  for (const auto& campaign : campaigns)
    rows.add({std::to_string(campaign.id.value()), campaign.route, campaign.state,
              grouped(campaign.audience),
              grouped(campaign.audience - campaign.expanded + campaign.open),
              grouped(campaign.accepted), grouped(campaign.unknown), campaign.requested_at,
              printable(campaign.name, 40)});
  if (rows.is_empty())
    return "There is no campaign yet: `paceline send --csv` starts one.\n";
  std::string notes;
  for (const auto& campaign : campaigns)
    if (!campaign.state_reason.empty())
      notes += "Campaign " + std::to_string(campaign.id.value()) + " is " + campaign.state + ": "
               + printable(campaign.state_reason, 400) + "\n";
  return rows.text() + notes;
}

int run_list(session& on, const campaign_options& options) {
  campaign_filter filter;
  filter.limit = options.limit;
  const auto campaigns = list_campaigns(on, filter);
  if (!campaigns)
    return say_error(campaigns.failure());
  print(options.as_json ? list_json(*campaigns) : list_text(*campaigns));
  return exit_fine;
}

int run_show(session& on, const campaign_options& options, stream_id which) {
  const auto report = read_report(on, which);
  if (!report)
    return say_error(report.failure());
  if (options.as_json) {
    json_text out;
    report_json(out, *report);
    print(out.line());
  } else {
    show_report(*report);
  }
  if (const auto saved = save_picture(*report, options.png); !saved)
    return say_error(saved.failure());
  return exit_fine;
}

struct change {
  const char* command;
  const char* description;
  result<done> (*apply)(session&, stream_id, std::string_view actor);
  bool waits_for_claims; ///< answered only when no older claim can start a call
  const char* told;      ///< behind the id
};

constexpr change changes[] = {
    {"pause", "Stop a campaign for now", pause_campaign, true, "is paused: nothing of it starts"},
    {"resume", "Let a paused campaign go on", resume_campaign, false, "goes on"},
    {"cancel", "Stop a campaign for good; what was not sent is canceled", cancel_campaign, true,
     "is canceled: nothing of it starts any more"},
};

int run_change(session& on, const campaign_options& options, stream_id which, const change& what) {
  if (const auto changed = what.apply(on, which, operator_name()); !changed)
    return say_error(changed.failure());
  auto campaign = show_campaign(on, which);
  if (!campaign)
    return say_error(campaign.failure());
  if (const auto woken = send_wake(on, campaign->route); !woken)
    say(woken.failure().text + " Nodes will hear of it at their next poll.");
  if (what.waits_for_claims) {
    wait_for_claims();
    // Read again for the counts; if that fails the change stands all the same.
    if (auto later = show_campaign(on, which))
      campaign = std::move(later);
  }
  if (options.as_json) {
    json_text out;
    out.begin_object().id("campaign", which).member("state", campaign->state);
    counts_json(out, *campaign);
    print(out.end_object().line());
  } else {
    print("Campaign " + std::to_string(which.value()) + " " + what.told + ". Accepted "
          + grouped(campaign->accepted) + " of " + grouped(campaign->audience) + ", unknown "
          + grouped(campaign->unknown) + ".\n");
  }
  return exit_fine;
}

template <class F>
int with_campaign(program& with, const campaign_options& options, const std::string& command,
                  F&& work) {
  const auto which = parse_id_as<stream_id>(options.id, "campaign");
  if (!which)
    return say_wrong_use(which.failure().text, "campaigns " + command);
  return with_session(with, [&work, &which](session& on) { return work(on, *which); });
}

CLI::App* add_one(CLI::App& campaigns, const std::string& name, const std::string& description,
                  const shared_campaign_options& options) {
  auto* const command = campaigns.add_subcommand(name, description);
  command->add_option("ID", options->id, "The campaign, as `campaigns list` shows it")->required();
  command->add_flag("--json", options->as_json, "Print JSON");
  return command;
}

void add_list(CLI::App& campaigns, program& with) {
  const auto options = std::make_shared<campaign_options>();
  auto* const list = campaigns.add_subcommand("list", "The newest campaigns");
  list->add_option("--limit", options->limit, "At most so many")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  list->add_flag("--json", options->as_json, "Print JSON");
  list->footer("Examples:\n"
               "  paceline campaigns list\n"
               "  paceline campaigns list --limit 5 --json | jq -r '.[].campaign'");
  list->callback([&with, options] {
    with.chosen = [&with, options] {
      return with_session(with, [&options](session& on) { return run_list(on, *options); });
    };
  });
}

void add_show(CLI::App& campaigns, program& with) {
  const auto options = std::make_shared<campaign_options>();
  auto* const show = add_one(campaigns, "show", "The report of a campaign and its curve", options);
  show->add_option("--png", options->png, "Also draw the curve there (needs gnuplot)")
      ->type_name("FILE");
  show->footer("Examples:\n"
               "  paceline campaigns show 373217432412160000\n"
               "  paceline campaigns show 373217432412160000 --png curve.png");
  show->callback([&with, options] {
    with.chosen = [&with, options] {
      return with_campaign(with, *options, "show", [&options](session& on, stream_id which) {
        return run_show(on, *options, which);
      });
    };
  });
}

void add_change(CLI::App& campaigns, program& with, const change& what) {
  const auto options = std::make_shared<campaign_options>();
  auto* const command = add_one(campaigns, what.command, what.description, options);
  const std::string name = what.command;
  command->footer(std::string{what.waits_for_claims
                                  ? "Answers when nothing of it can start any more: after about a "
                                    "second.\nCalls already on the wire are finished.\n\n"
                                  : ""}
                  + "Examples:\n  paceline campaigns " + name + " 373217432412160000");
  command->callback([&with, options, what, name] {
    with.chosen = [&with, options, what, name] {
      return with_campaign(with, *options, name, [&options, &what](session& on, stream_id which) {
        return run_change(on, *options, which, what);
      });
    };
  });
}

} // namespace

void add_campaigns(CLI::App& app, program& with) {
  auto* const campaigns = app.add_subcommand("campaigns", "List, show, pause, resume, cancel");
  campaigns->require_subcommand(1);
  campaigns->footer("Examples:\n"
                    "  paceline campaigns list\n"
                    "  paceline campaigns show 373217432412160000\n"
                    "  paceline campaigns cancel 373217432412160000");
  add_list(*campaigns, with);
  add_show(*campaigns, with);
  for (const auto& what : changes)
    add_change(*campaigns, with, what);
}

} // namespace paceline
