/// The ledger of a stand-in: one JSON line for each message that it took.
///
/// It is the proof for "never twice" and "never lost", so a line is appended by one write(2) to a
/// file opened O_APPEND before the call is answered, and survives the death of everybody. Fields:
/// message, version (the sender's tags paceline-message and paceline-version), recipients,
/// received_ns (since 1970, this machine's clock: the request was complete), route, sha256 (of the
/// message as it was given), unanswered (true: the caller did not learn of it; else absent).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace paceline::simulators {

/// Who a message is. Without tags the ledger counts downwards from -1, so that no two strangers
/// look like one message sent twice.
struct message_tags {
  std::int64_t message = 0; ///< 0: it had none
  std::int64_t version = 0;

  /// One tag; names of others are ignored. False where it is ours and no number.
  bool take(std::string_view name, std::string_view value);
};

class acceptance_ledger {
public:
  /// An empty path keeps no ledger, an empty folder no messages. `folder` gets each message as
  /// MESSAGE-VERSION.eml. Throws std::system_error where the file or the folder can't be made.
  acceptance_ledger(const std::string& path, const std::string& folder, const std::string& route);
  acceptance_ledger(const acceptance_ledger&) = delete;
  acceptance_ledger& operator=(const acceptance_ledger&) = delete;
  ~acceptance_ledger();

  /// False if it could not be written whole; then the call must not be answered as accepted.
  bool append(message_tags who, std::string_view raw, std::size_t recipients, bool unanswered);

private:
  bool keep(const message_tags& who, std::string_view raw) const;

  int file_ = -1;
  std::string folder_;
  std::string tail_; ///< `,"route":...`
  std::string line_; ///< keeps its memory
  std::int64_t strangers_ = 0;
};

/// 64 hexadecimal digits.
std::string sha256_hex(std::string_view of);

} // namespace paceline::simulators
