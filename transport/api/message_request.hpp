/// The bodies of `POST /v1/send` and `POST /v1/batch`, read and checked. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/intake.hpp"
#include "transport/api/content_request.hpp"
#include "transport/api/json_document.hpp"
#include "transport/api/problem_list.hpp"

namespace paceline {

/// What both come down to. Ids, route and stream are still to be given.
struct message_request {
  static constexpr std::size_t most = 5000; ///< messages in one request
  /// Of objects under this key only their text is kept (see json_document).
  static constexpr std::string_view opaque_key = "fields";

  std::vector<content_reading> contents;
  std::vector<intake_message> messages;
  bool content_is_shared = false; ///< one content, under `/content`
  std::int16_t priority = 0;
  std::optional<std::string> region;

  std::size_t recipients() const;
  /// Some message may go now.
  bool is_due(unix_us now) const;
};

/// `now` is the wall clock: send_at may be from 1 hour before to 366 days after it, expires_at up
/// to 732 days after it and after send_at. Meaningful only where no problem was added.
message_request read_send(json_value body, unix_us now, problem_list& problems);
message_request read_batch(json_value body, unix_us now, problem_list& problems);

} // namespace paceline
