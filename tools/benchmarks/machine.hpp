/// Where figures were taken, and with what: without it they say nothing.
#pragma once

#include "tools/benchmarks/figures.hpp"

namespace paceline::bench {

/// Cores, processor, memory, system; versions of ourselves, the compiler and the libraries.
environment describe_environment();

} // namespace paceline::bench
