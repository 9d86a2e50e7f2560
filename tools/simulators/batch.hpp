/// The shape of Resend's `POST /emails/batch` as a stand-in, over HTTPS.
///
/// An array of up to 100 messages; one invalid item refuses all of them (422). A request costs one
/// of the rate, by default 2 a second, which is enforced in fixed windows of a second and told in
/// the headers ratelimit-limit, ratelimit-remaining and ratelimit-reset; a refused one hears
/// retry-after, too. The same Idempotency-Key with the same body gets the same answer again for 24
/// hours and takes nothing; with another body 409. Source: Resend's API reference.
///
/// The first recipient that asks for a fault decides for the whole request. Whose message an item
/// is stands in its tag `paceline_message` (ID-VERSION).
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/simulators/http_service.hpp"
#include "tools/simulators/simulation.hpp"

namespace paceline::simulators {

class batch_service final : public http_service {
public:
  batch_service(simulation& with, std::string api_key)
      : with_(with), api_key_(std::move(api_key)) {}

  bool resets_unread(bool is_reused) override;
  http_answer answer(http_request& what) override;
  nanoseconds connected() override { return with_.take_connection(); }

private:
  struct item;
  struct remembered {
    std::string body_hash, answer;
    instant until;
  };

  http_answer answer_in_time(http_request& what);
  http_answer take(http_request& what, behaviour fault);
  http_answer take_all(const std::vector<item>& items, behaviour how);
  http_answer refusal_answer(behaviour why) const;
  bool has_room(instant now);
  void add_rate_headers(http_answer& to, instant now) const;
  void remember(const std::string& key, const std::string& hash, const std::string& answer);

  simulation& with_;
  std::string api_key_;
  instant window_;        ///< when the present one began
  std::int64_t used_ = 0; ///< requests in it
  std::uint64_t ids_ = 0;
  std::map<std::string, remembered> answers_; ///< by Idempotency-Key; the last 100,000
};

} // namespace paceline::simulators
