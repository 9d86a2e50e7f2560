/// Connection options from the configuration: one place, so that all connect alike.
#pragma once

#include "config/settings.hpp"
#include "storage/pool.hpp"

namespace paceline {

/// For pools and commands; may lead through a pooler.
connection_options pooled_connection(const settings& from);
/// Past any pooler: for migrations and LISTEN.
connection_options direct_connection(const settings& from);

} // namespace paceline
