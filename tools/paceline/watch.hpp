/// `--wait`: watches until nothing is left to happen, or until Ctrl-C. Progress goes to standard
/// error, so that standard output stays for results.
#pragma once

#include <optional>

#include "storage/campaigns.hpp"
#include "storage/messages.hpp"
#include "tools/paceline/program.hpp"

namespace paceline {

enum class watch_end {
  over,        ///< `last` is how it ended
  interrupted, ///< Ctrl-C: it goes on without us
  failed,      ///< `why`; what can be retried has been, for a minute
};

template <class View>
struct watched {
  watch_end end = watch_end::over;
  std::optional<View> last;
  error why;
};

/// A live line on a terminal, otherwise a line every 5 s.
watched<campaign_view> watch_campaign(program& with, const settings& configured, stream_id which);

/// Until the message is neither queued nor attempting. Says nothing meanwhile, unless no node runs.
watched<message_view> watch_message(program& with, const settings& configured, message_id which);

} // namespace paceline
