/// Whether the tables and the provider's ledger tell the same story.
#pragma once

#include <string>
#include <vector>

#include <pqxx/pqxx>

#include "test/support/ledger_reader.hpp"

namespace paceline::test {

/// What is wrong, one sentence each; nothing where the promises are kept:
/// - per campaign, audience = not yet expanded + the counters' sum (promise 2), and the counters
///   equal the grouped states of its messages;
/// - nothing was handed over twice (promise 1), and what was handed over is accepted or later,
///   attempting or unknown in the tables;
/// - what is accepted in the tables was handed over.
/// At any moment for the sums; between ledger and tables only once nothing is on the wire, or the
/// process that was writing is dead.
std::vector<std::string> broken_promises(pqxx::connection& database,
                                         const std::vector<ledger_line>& ledger);

/// The same as one text.
std::string broken_text(pqxx::connection& database, const std::vector<ledger_line>& ledger);

} // namespace paceline::test
