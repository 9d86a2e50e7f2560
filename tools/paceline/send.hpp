/// `paceline send` in its two modes: a campaign from a CSV file, or one message.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/contents.hpp"
#include "storage/result.hpp"
#include "tools/paceline/content_options.hpp"
#include "tools/paceline/program.hpp"
#include "transport/api/preview.hpp"

namespace paceline {

/// As given on the command line; empty where it wasn't.
struct send_options : content_options {
  std::string route;
  bool wait = false, as_json = false;
  std::optional<std::int32_t> priority; ///< default: 10 for a campaign, 0 for a message

  std::string csv, name, skipped_file, png;
  std::optional<std::int32_t> weight;
  std::optional<double> rate_cap;

  std::vector<std::string> to, fields;
  std::string send_in, expires_in;
};

/// Makes the message that these recipients would get with `fields` (a JSON object), so that a
/// mistake shows before anything is stored. Returns what it would look like.
result<mail_preview> try_message(const content& what, const std::vector<std::string>& recipients,
                                 const std::string& fields);

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
