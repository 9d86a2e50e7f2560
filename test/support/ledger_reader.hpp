/// What a provider has accepted, the simulated one in the node or a stand-in (tools/simulators):
/// the witness for "never twice" and "never too fast".
#pragma once

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace paceline::test {

struct ledger_line {
  std::int64_t message = 0;
  std::int64_t started_ns = 0; ///< since 1970: as the courier stamped it, or its arrival there
  int version = 0;
  int recipients = 0;
  bool unanswered = false; ///< the provider took it, and the caller never heard so
  std::string node;        ///< of the simulated provider only
  std::string sha256;      ///< of a stand-in only: the message as it was given
};

/// In the order of their writing. Empty where there is no file; throws on a line that is no line.
std::vector<ledger_line> read_ledger(const std::string& file);

/// Without parsing them.
std::size_t count_ledger_lines(const std::string& file);

/// Messages that were handed over more than once.
std::vector<std::int64_t> twice(const std::vector<ledger_line>& lines);

/// The most recipients that were started within any `window`, not only aligned ones. Two starts
/// exactly one window apart are not in one.
std::int64_t most_within(const std::vector<ledger_line>& lines, std::chrono::nanoseconds window);

/// How many recipients the worst sliding second has above promise 3; not above 0 where it is kept.
/// `clock_error` is that of the worst node's clock: 0 where one process wrote all.
double excess(const std::vector<ledger_line>& lines, double target,
              std::chrono::nanoseconds clock_error = {});

/// Those of the messages in `which`.
std::vector<ledger_line> only(const std::vector<ledger_line>& lines,
                              const std::set<std::int64_t>& which);

} // namespace paceline::test
