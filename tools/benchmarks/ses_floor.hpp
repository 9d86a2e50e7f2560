/// The floor of `ses`: what bare libpq and bare libcurl do together, to the same stand-in.
#pragma once

#include <cstdint>

#include "tools/benchmarks/cluster.hpp"
#include "tools/benchmarks/ses_transfers.hpp"

namespace paceline::bench {

struct ses_floor_result {
  double cpu_us_per_message = 0; ///< of this process, without stand-in and database
};

/// Makes the floor's database (floor.sql), fills it, then reserves and claims groups of 100 on two
/// connections, sends them, and records up to 100 at once on two others. The stand-in's ledger has
/// the rate. Throws where a message was left or recorded twice.
ses_floor_result run_ses_floor(cluster& on, const transfer_settings& to, std::int64_t messages);

} // namespace paceline::bench
