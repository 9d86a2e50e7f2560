/// The simulated provider's ledger: one JSON line per call that a provider would have taken.
#pragma once

#include <cstdint>
#include <string>

#include "storage/model/instants.hpp"
#include "storage/model/outcome.hpp"

namespace paceline {

/// Each line is appended by one `write` to a file opened O_APPEND: lines of several processes don't
/// mix, and what was written survives the process being killed at any moment.
class ledger {
public:
  /// An empty path keeps no ledger. `node` and `route` are written into each line. Throws
  /// std::system_error if the file can't be opened.
  ledger(const std::string& path, const std::string& node, const std::string& route);
  ~ledger();
  ledger(const ledger&) = delete;
  ledger& operator=(const ledger&) = delete;

  /// False if the line could not be written whole; `errno` says why. What was written of it stands
  /// on a line of its own. `unanswered`: the caller will not learn of it.
  bool append(const attempt& of, database_instant started, std::size_t recipients, bool unanswered);

private:
  int file_ = -1;
  std::string tail_;  ///< `,"node":...,"route":...`, the same in every line
  std::string line_;  ///< keeps its memory
  bool torn_ = false; ///< the file ends in a part of a line
};

} // namespace paceline
