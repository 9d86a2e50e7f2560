#include "transport/outgoing/transfer_verdict.hpp"

#include <algorithm>
#include <charconv>

namespace paceline {
namespace {

constexpr std::size_t remembered_departures = 64;

/// The number right behind the first `mark` in `line`.
std::optional<std::int64_t> number_behind(std::string_view mark, std::string_view line) {
  auto at = line.find(mark);
  if (at == line.npos)
    return {};
  std::int64_t number = 0;
  auto digits = line.substr(at + mark.size());
  auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (read.ec != std::errc{})
    return {};
  return number;
}

std::optional<std::int64_t> connection_in(std::string_view line) {
  if (line.starts_with("Re-using existing connection #"))
    return number_behind("connection #", line);
  if (line.starts_with("Connected to "))
    return number_behind(" (#", line);
  return {};
}

/// From here on the library looks at other connections: their lines say nothing about this one.
bool ends_the_attempt(std::string_view line) {
  return line.starts_with("Connection died, ") || line.starts_with("Downgrades to HTTP/1.1")
         || line.starts_with("Found bundle for host");
}

} // namespace

void departures::add(std::int64_t connection, std::int64_t last_stream) {
  latest_.push_back({connection, last_stream});
  if (latest_.size() > remembered_departures)
    latest_.pop_front();
}

bool departures::excludes(const http2_notes& what) const {
  return what.connection && what.stream
         && std::any_of(latest_.begin(), latest_.end(), [&what](const departure& each) {
              return each.connection == *what.connection && *what.stream > each.last_stream;
            });
}

void note_line(std::string_view line, bool was_asked, http2_notes& notes, departures& seen) {
  if (!was_asked) {
    if (auto connection = connection_in(line))
      notes.connection = connection;
    return;
  }
  if (notes.over)
    return;
  if (line.starts_with("REFUSED_STREAM, retrying"))
    notes.refused = true;
  else if (ends_the_attempt(line))
    notes.over = true;
  else if (auto last = number_behind("GOAWAY, error=", line) ? number_behind(", last_stream=", line)
                                                             : std::nullopt;
           last && notes.connection)
    seen.add(*notes.connection, *last);
  else if (line.starts_with("Using Stream ID: ") && !notes.stream)
    notes.stream = number_behind("ID: ", line);
}

transfer_end judge(const transfer_facts& facts) {
  if (facts.said_no)
    return transfer_end::refused;
  if (facts.code == CURLE_OK)
    return transfer_end::answered;
  if (!facts.asked)
    return transfer_end::not_written;
  if (facts.not_taken)
    return transfer_end::not_taken;
  if (facts.repeated)
    return transfer_end::lost;
  switch (facts.code) {
  case CURLE_OPERATION_TIMEDOUT:
    return transfer_end::timed_out;
  case CURLE_WRITE_ERROR:       // the owner took no more
  case CURLE_FILESIZE_EXCEEDED: // CURLOPT_MAXFILESIZE
  case CURLE_OUT_OF_MEMORY:     // what 7.88 says of one endless header line
    return transfer_end::too_large;
  default:
    return transfer_end::lost;
  }
}

bool is_bad_certificate(CURLcode code) {
  return code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_ISSUER_ERROR
         || code == CURLE_SSL_INVALIDCERTSTATUS || code == CURLE_SSL_PINNEDPUBKEYNOTMATCH;
}

} // namespace paceline
