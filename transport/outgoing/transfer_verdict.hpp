/// What a finished transfer says about its request: was it written, may it be sent again? Pure.
///
/// The answer "not taken" lets a message be sent again, so it needs positive evidence; everything
/// unclear is `lost`. libcurl repeats requests that an HTTP/2 peer refused without saying so in any
/// result. It does say it among its informational lines, which `http2_notes` reads. A library that
/// words them differently yields `lost`.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>

#include "transport/outgoing/curl_engine.hpp"

namespace paceline {

/// What one transfer's lines said of the only attempt that may be written.
struct http2_notes {
  std::optional<std::int64_t> connection; ///< libcurl's number of it, unique in a lane
  std::optional<std::int64_t> stream;
  bool refused = false; ///< REFUSED_STREAM, or above the last stream of a GOAWAY
  bool over = false;    ///< the library gave the attempt up: later lines are about another
};

/// The last streams that peers who are about to leave still took, by connection; the 64 latest.
class departures {
public:
  void add(std::int64_t connection, std::int64_t last_stream);
  /// Whether a GOAWAY said that nobody looked at this stream (RFC 9113 section 6.8).
  bool excludes(const http2_notes& what) const;

private:
  struct departure {
    std::int64_t connection = 0, last_stream = 0;
  };
  std::deque<departure> latest_;
};

/// Takes one informational line of libcurl. `was_asked`: the owner already let the request be
/// written.
void note_line(std::string_view line, bool was_asked, http2_notes& notes, departures& seen);

/// What is known of a transfer when it ended.
struct transfer_facts {
  CURLcode code = CURLE_OK;
  bool asked = false;    ///< the owner was asked, so bytes may have been written
  bool said_no = false;  ///< and forbade it
  bool repeated = false; ///< the library was about to write the request again
  bool not_taken = false;
};

transfer_end judge(const transfer_facts& facts);

/// Whether the peer could not prove who it is.
bool is_bad_certificate(CURLcode code);

} // namespace paceline
