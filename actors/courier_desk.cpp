#include "actors/courier_desk.hpp"

#include "actors/database_post.hpp"
#include "actors/answers.hpp"
#include "actors/messages.hpp"

namespace paceline {

void courier_desk::ask_quota(const caf::actor_addr& reply_to, route_id route) {
  to_.ask_quota(route, [reply_to](const result<quota_reading>& quota) {
    tell(reply_to, quota ? quota_answered{*quota} : quota_answered{{}, quota.failure().text});
  });
}

void recorder_sink::deliver(shard_id shard, std::vector<delivery> outcomes) {
  tell(recorder_,
       bring_outcomes{shard, std::make_shared<const std::vector<delivery>>(std::move(outcomes))});
}

} // namespace paceline
