/// Waiting for a condition in another process or in the database, where no signal can be had.
#pragma once

#include <chrono>
#include <functional>

namespace paceline::test {

/// Longer than anything takes on a crowded machine; a test that needs it has failed.
constexpr std::chrono::seconds long_enough{90};

/// Looks at `holds` every few milliseconds. True as soon as it holds, false after `patience`.
bool eventually(const std::function<bool()>& holds,
                std::chrono::milliseconds patience = long_enough);

/// The length of a fault that the test makes (a freeze, an outage, a random moment). Never a wait
/// for something to happen.
void hold_fault_for(std::chrono::microseconds length);

} // namespace paceline::test
