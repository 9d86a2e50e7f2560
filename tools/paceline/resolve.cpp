#include "tools/paceline/resolve.hpp"

#include <CLI/CLI.hpp>

#include <chrono>
#include <memory>

#include "storage/bulk_resolve.hpp"
#include "storage/campaigns.hpp"
#include "storage/wake_listener.hpp"
#include "tools/paceline/arguments.hpp"
#include "tools/paceline/json.hpp"
#include "tools/paceline/operator_name.hpp"
#include "tools/paceline/output.hpp"
#include "tools/paceline/program.hpp"

namespace paceline {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds line_every{2};

struct resolve_options {
  std::string id, campaign, without_feedback_for, as;
  bool yes = false, as_json = false;
};

resolution resolution_of(std::string_view word) {
  return word == "accepted"   ? resolution::accepted
         : word == "rejected" ? resolution::rejected
                              : resolution::send_again;
}

// One message -----------------------------------------------------------------

/// The new message waits for nobody, but a hint makes it quick.
void wake_route_of(session& on, message_id which) {
  const auto message = show_message(on, which);
  if (!message || !send_wake(on, message->route))
    say("no wake-up could be sent; nodes will find the message at their next poll");
}

int resolve_one(session& on, const resolve_options& options, message_id which) {
  auto ids = make_id_source(on);
  if (!ids)
    return say_error(ids.failure());
  const auto resolved =
      resolve_message(on, *ids, which, resolution_of(options.as), operator_writer, operator_name());
  if (!resolved)
    return say_error(resolved.failure());
  if (resolved->resent_as)
    wake_route_of(on, *resolved->resent_as);
  if (options.as_json) {
    json_text out;
    out.begin_object().id("message", resolved->old_message).member("resolved_as", options.as);
    out.id("resent_as", resolved->resent_as.value_or(message_id{}));
    print(out.end_object().line());
  } else if (resolved->resent_as) {
    print("Message " + options.id + " is closed as rejected and sent again as "
          + std::to_string(resolved->resent_as->value()) + ".\n");
  } else {
    print("Message " + options.id + " is " + options.as + " now.\n");
  }
  return exit_fine;
}

// A campaign ------------------------------------------------------------------

/// A line every few seconds for what takes longer.
class page_progress {
public:
  void tell(std::int64_t done, const char* what) {
    if (steady_clock::now() < next_)
      return;
    next_ = steady_clock::now() + line_every;
    say(counted(done, "message") + " " + what + " so far");
  }

private:
  steady_clock::time_point next_ = steady_clock::now() + line_every;
};

result<std::int64_t> count_unknown(session& on, const unknown_selection& what) {
  page_progress progress;
  std::int64_t found = 0;
  for (std::optional<message_id> after = message_id{}; after;) {
    const auto page = count_unknown_page(on, what, *after);
    if (!page)
      return page.failure();
    found += page->messages;
    after = page->next;
    progress.tell(found, "found");
  }
  return found;
}

result<done> resolve_all(session& on, resolve_run& run) {
  auto ids = make_id_source(on);
  if (!ids)
    return ids.failure();
  page_progress progress;
  for (std::optional<message_id> after = message_id{}; after;) {
    const auto page = resolve_unknown_page(on, *ids, run, *after, operator_writer);
    if (!page)
      return page.failure();
    after = page->next;
    progress.tell(run.changed, "resolved");
  }
  return done{};
}

void print_bulk(const resolve_options& options, stream_id campaign, std::int64_t messages) {
  if (options.as_json) {
    json_text out;
    out.begin_object().id("campaign", campaign).member("resolve_as", options.as);
    print(out.member("dry_run", !options.yes).member("messages", messages).end_object().line());
    return;
  }
  const auto many = counted(messages, "message");
  if (!options.yes)
    print(many + " would be resolved as " + options.as + "."
          + (messages == 0 ? "" : " Add --yes to do it.") + "\n");
  else if (options.as == "send-again")
    print(many + (messages == 1 ? " is" : " are") + " closed as rejected and sent again.\n");
  else
    print(many + (messages == 1 ? " is " : " are ") + options.as + " now.\n");
}

int resolve_campaign(session& on, const resolve_options& options, const unknown_selection& what) {
  const auto campaign = show_campaign(on, what.campaign);
  if (!campaign)
    return say_error(campaign.failure());
  if (!options.yes) {
    const auto found = count_unknown(on, what);
    if (!found)
      return say_error(found.failure());
    print_bulk(options, what.campaign, *found);
    return exit_fine;
  }
  resolve_run run;
  run.what = what;
  run.how = resolution_of(options.as);
  run.actor = operator_name();
  const auto resolved = resolve_all(on, run);
  if (run.changed > 0 && run.how == resolution::send_again && !send_wake(on, campaign->route))
    say("no wake-up could be sent; nodes will find the messages at their next poll");
  if (!resolved) {
    const int status = say_error(resolved.failure());
    say(counted(run.changed, "message") + " were resolved before that; the same command goes on.");
    return status;
  }
  print_bulk(options, what.campaign, run.changed);
  return exit_fine;
}

// The command -----------------------------------------------------------------

int run_one(program& with, const resolve_options& options) {
  if (!options.without_feedback_for.empty() || options.yes)
    return say_wrong_use("--without-feedback-for and --yes belong to --campaign.",
                         "messages resolve");
  const auto which = parse_id_as<message_id>(options.id, "message");
  if (!which)
    return say_wrong_use(which.failure().text, "messages resolve");
  return with_session(with, [&](session& on) { return resolve_one(on, options, *which); });
}

int run_campaign(program& with, const resolve_options& options) {
  if (options.without_feedback_for.empty())
    return say_wrong_use("Say with --without-feedback-for how long feedback may still come: with "
                         "most providers 24h is enough.",
                         "messages resolve");
  const auto age = parse_duration(options.without_feedback_for);
  if (!age)
    return say_wrong_use("--without-feedback-for: " + age.failure().text, "messages resolve");
  const auto which = parse_id_as<stream_id>(options.campaign, "campaign");
  if (!which)
    return say_wrong_use(which.failure().text, "messages resolve");
  return with_session(with, [&](session& on) {
    return resolve_campaign(on, options, {*which, *age});
  });
}

int run_resolve(program& with, const resolve_options& options) {
  if (options.id.empty() == options.campaign.empty())
    return say_wrong_use("Give either the ID of a message or --campaign.", "messages resolve");
  return options.id.empty() ? run_campaign(with, options) : run_one(with, options);
}

} // namespace

void add_messages_resolve(CLI::App& messages, program& with) {
  const auto options = std::make_shared<resolve_options>();
  auto* const resolve =
      messages.add_subcommand("resolve", "Say what became of messages that are unknown");
  resolve->add_option("ID", options->id, "The message, in status acceptance_unknown");
  resolve
      ->add_option("--campaign", options->campaign,
                   "In place of an ID: all that are unknown of this campaign")
      ->type_name("ID");
  resolve
      ->add_option("--without-feedback-for", options->without_feedback_for,
                   "With --campaign: unknown for longer than this, such as 24h")
      ->type_name("DURATION");
  resolve
      ->add_option("--as", options->as,
                   "accepted: the provider has it; rejected: it will not "
                   "be delivered; send-again: risk that it arrives twice")
      ->required()
      ->type_name("RESOLUTION")
      ->check(CLI::IsMember({"accepted", "rejected", "send-again"}));
  resolve->add_flag("--yes", options->yes, "With --campaign: do it; without, it is only counted");
  resolve->add_flag("--json", options->as_json, "Print JSON");
  resolve->footer(
      "Look into the provider's console first: only there one can see whether it was taken.\n"
      "With --campaign it may be killed and run again: each message is resolved once.\n"
      "\n"
      "Examples:\n"
      "  paceline messages resolve 373217432412160001 --as accepted\n"
      "  paceline messages resolve 373217432412160001 --as send-again\n"
      "  paceline messages resolve --campaign 373217432412160000 --without-feedback-for 24h \\\n"
      "      --as accepted --yes");
  resolve->callback(
      [&with, options] { with.chosen = [&with, options] { return run_resolve(with, *options); }; });
}

} // namespace paceline
