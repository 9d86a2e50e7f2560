/// Reads the simulated provider's ledger (transport/providers/ledger.hpp), or that of a stand-in
/// (tools/simulators).
#pragma once

#include <string>
#include <vector>

#include "tools/benchmarks/start_times.hpp"

namespace paceline::bench {

/// All calls in the order of the file, read line by line. Calls whose answer the caller never got
/// are among them: the provider took them too. A missing file is an empty ledger. Throws
/// `std::runtime_error` for a line that is no entry, naming it.
std::vector<started_call> read_ledger(const std::string& path);

} // namespace paceline::bench
