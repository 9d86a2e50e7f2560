// The fake store claims as the real one does (test/pg/store_conformance.cpp).
#include "test/support/claim_conformance.hpp"

#include "test/support/fake_stores.hpp"

using namespace paceline;
using namespace paceline::test;
using namespace std::chrono_literals;

namespace {

/// Hears the claims' answers.
class claimant : public caf::event_based_actor {
public:
  claimant(caf::actor_config& config, shared_result<claim_reply>& into)
      : caf::event_based_actor(config), into_(into) {}
  caf::behavior make_behavior() override {
    return {[this](const group_claimed& answer) { into_ = answer.reply; }};
  }

private:
  shared_result<claim_reply>& into_;
};

class fake_subject final : public claim_subject {
public:
  fake_subject() {
    table.add_stream(stream_id{10});
    table.add(stream_id{10}, 40, time.database_now());
    for (std::int64_t shard : {0, 1})
      table.shards[shard_id{shard}] = {epoch_id{100 + shard}, 0, time.database_now()};
    actor = time.spawn<claimant>(heard);
  }
  std::vector<due_message> read(std::int32_t limit) override {
    reserve_request request;
    request.sources.push_back({stream_id{10}, reserve_part::own, {}, limit});
    return table.reserve(request, time.database_now()).front().rows;
  }
  result<claim_reply> claim(int shard, std::int32_t group,
                            const std::vector<due_message>& rows) override {
    claim_request request{shard_id{shard}, epoch_id{100 + shard}, group, time.database_now(), {}};
    for (const auto& row : rows)
      request.rows.push_back({row.of, row.stream, row.project, row.recipients, row.key});
    heard.reset();
    store.claim(actor.address(), std::move(request));
    BOOST_REQUIRE(time.pass_until([this] { return heard != nullptr; }, 1s));
    return *heard;
  }
  void take_over(int shard) override { table.shards[shard_id{shard}].epoch = epoch_id{200}; }
  void pause_stream() override { table.stopped.insert(stream_id{10}); }
  void give_key(std::vector<due_message>& rows) override {
    for (auto& row : rows)
      row.key = table.messages.at(row.of.message).row.key = key_id{5};
  }
  void revoke_key() override { table.revoked.insert(key_id{5}); }

private:
  virtual_time time;
  fake_table table;
  record_backlog backlog{1000};
  fake_shard_store store{time, table, backlog, 4ms};
  shared_result<claim_reply> heard;
  caf::actor actor;
};

} // namespace

BOOST_AUTO_TEST_CASE(the_fake_store_claims_as_the_database_does) {
  check_claims([] { return std::make_unique<fake_subject>(); });
}
