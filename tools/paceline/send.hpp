/// `paceline send` in its two modes: a campaign from a CSV file, or one message.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/contents.hpp"
#include "storage/result.hpp"
#include "tools/paceline/program.hpp"

namespace paceline {

/// As given on the command line; empty where it wasn't.
struct send_options {
  std::string route, from;
  std::string subject, subject_file, text, text_file, html, html_file;
  bool wait = false, as_json = false;
  std::optional<std::int32_t> priority; ///< default: 10 for a campaign, 0 for a message

  std::string csv, name, skipped_file, png;
  std::optional<std::int32_t> weight;
  std::optional<double> rate_cap;

  std::vector<std::string> to, fields;
  std::string send_in, expires_in;
};

/// Sender, subject and bodies from texts and files; checked and compiled as templates, and rendered
/// with `fields` (a JSON object), so that a mistake shows before anything is stored.
result<content> read_content(const send_options& options);
result<done> try_rendering(const content& what, const std::string& fields);

/// What both modes need: configuration, connection, route.
struct send_place {
  settings values;
  session* on = nullptr; ///< until the next `connect`
  route_id route;
};

/// Nothing where it failed: `status` is then the exit status, and everything has been said.
std::optional<send_place> open_place(program& with, const send_options& options, int& status);

/// Wakes the nodes; if that fails they find the work at their next poll.
void wake(session& on, const std::string& route);

/// An error of what was stored last: in doubt means that it may be there.
int say_store_error(const error& failure, const std::string& where_to_look);

int run_send_campaign(program& with, const send_options& options);
int run_send_message(program& with, const send_options& options);

} // namespace paceline
