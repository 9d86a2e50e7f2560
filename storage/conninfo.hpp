/// libpq's connection string with our defaults put in where the user's says nothing.
#pragma once

#include <string>

#include "storage/pool.hpp"
#include "storage/result.hpp"

namespace paceline {

/// `options.dsn` (keyword or URI form) as a keyword string with timeouts, keep-alives (a
/// black-holed connection must be noticed), application name and encoding. `invalid` where libpq
/// can't parse it; the text never repeats the DSN, which may hold a password.
result<std::string> complete_conninfo(const connection_options& options);

} // namespace paceline
