#include <CLI/CLI.hpp>

#include <memory>

#include "tools/paceline/arguments.hpp"
#include "tools/paceline/commands.hpp"
#include "tools/paceline/output.hpp"
#include "tools/paceline/program.hpp"
#include "tools/paceline/show.hpp"

namespace paceline {
namespace {

struct curve_options {
  std::string campaign, png;
  bool as_json = false;
};

std::string curve_json(const campaign_report& report) {
  json_text out;
  out.begin_object().id("campaign", report.campaign.id).member("route", report.campaign.route);
  out.member("target_per_second", report.campaign.target_per_second);
  out.member("first_second", report.dispatched.first_second).key("starts").begin_array();
  for (const auto starts : report.dispatched.starts)
    out.value(starts);
  return out.end_array().end_object().line();
}

int show_curve(session& on, const curve_options& options, stream_id which) {
  const auto report = read_report(on, which);
  if (!report)
    return say_error(report.failure());
  print(options.as_json ? curve_json(*report) : report_chart(*report, describe_terminal(1)));
  if (const auto saved = save_picture(*report, options.png); !saved)
    return say_error(saved.failure());
  return exit_fine;
}

int run_curve(program& with, const curve_options& options) {
  const auto which = parse_id_as<stream_id>(options.campaign, "campaign");
  if (!which)
    return say_wrong_use(which.failure().text, "curve");
  return with_session(with,
                      [&options, &which](session& on) { return show_curve(on, options, *which); });
}

} // namespace

void add_curve(CLI::App& app, program& with) {
  auto* const curve =
      app.add_subcommand("curve", "Draw how many messages of a campaign started in each second");
  const auto options = std::make_shared<curve_options>();
  curve->add_option("CAMPAIGN", options->campaign, "Its id, as `campaigns list` shows it")
      ->required();
  curve->add_option("--png", options->png, "Also draw a picture there (needs gnuplot)")
      ->type_name("FILE");
  curve->add_flag("--json", options->as_json, "Print the numbers as JSON");
  curve->footer("Examples:\n"
                "  paceline curve 373217432412160000\n"
                "  paceline curve 373217432412160000 --png curve.png\n"
                "  paceline curve 373217432412160000 --json | jq '.starts | max'");
  curve->callback(
      [&with, options] { with.chosen = [&with, options] { return run_curve(with, *options); }; });
}

} // namespace paceline
