#include "tools/benchmarks/benches.hpp"

namespace paceline::bench {
namespace {

constexpr bench_entry all[] = {
    {"campaign", 30, run_campaign},
    {"drain", 80, run_drain},
    {"footprint", 50, run_footprint},
    {"statements", 50, run_statements},
    {"floor", 25, run_floor_alone},
    {"send", 90, run_send},
    {"enqueue", 90, run_enqueue},
    {"clients", 60, run_clients},
    {"compose", 10, run_compose},
    {"direct", 110, run_direct},
    {"ses", 115, run_ses},
    {"ses-hang", 100, run_ses_hang},
    {"ses-cut", 75, run_ses_cut},
    {"pace", 210, run_pace},
    {"ses-down", 680, run_ses_down},
};

} // namespace

std::span<const bench_entry> all_benches() {
  return all;
}

} // namespace paceline::bench
