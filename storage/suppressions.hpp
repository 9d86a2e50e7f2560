/// Addresses that get no mail, per project and environment. Checked inside the claim statement.
///
/// `unsubscribe` is the person's own wish and stops campaigns only; every other reason (operator,
/// bounce, complaint) stops direct mail, too, and takes the place of `unsubscribe` where both come.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/model/ids.hpp"
#include "storage/pool.hpp"

namespace paceline {

/// The one spelling under which an address is stored, looked up and matched: ASCII lower case for
/// both parts (what providers treat as equal in practice), blanks around it removed. Every path
/// uses this function.
std::string normalized_address(std::string_view address);

struct suppression {
  std::string address, reason, created_at;
};

/// Both write an audit row with their numbers, in the same transaction, if anything changed.
/// Returns how many were new, or stop direct mail only from now on. `reason`: operator, bounce,
/// complaint, unsubscribe.
result<std::int64_t> add_suppressions(session&, project_id, std::string_view environment,
                                      const std::vector<std::string>& addresses,
                                      std::string_view reason, std::string_view actor);
result<std::int64_t> remove_suppressions(session&, project_id, std::string_view environment,
                                         const std::vector<std::string>& addresses,
                                         std::string_view actor);
/// Error `not_found`.
result<suppression> find_suppression(session&, project_id, std::string_view environment,
                                     std::string_view address);
/// Ordered by address, those after `after`, 1 to 1,000.
result<std::vector<suppression>> list_suppressions(session&, project_id,
                                                   std::string_view environment,
                                                   std::string_view after, std::int32_t limit);

/// The person takes himself off the project's campaigns, by a link in one of `stream`'s messages.
/// `address` as the link has it. True the first time; a repeat changes nothing and gives false, but
/// suppresses again where an operator has lifted that since. One statement; may be repeated after
/// any error. Error `data`: there is no such project (any more).
result<bool> record_unsubscribe(session&, project_id, std::string_view environment, stream_id,
                                std::string_view address);

} // namespace paceline
