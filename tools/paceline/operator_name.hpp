/// Who the operator is, for the audit trail.
#pragma once

#include <string>

namespace paceline {

/// `cli:USER@HOST`, as the system knows them.
std::string operator_name();

} // namespace paceline
