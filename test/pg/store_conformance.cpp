// The shards' store on PostgreSQL has the properties that the fake of the actor tests has.
#include "test/support/claim_conformance.hpp"

#include "actors/answers.hpp"
#include "actors/database_stores.hpp"
#include "storage/keys.hpp"
#include "test/pg/dispatch_fixture.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

class database_subject final : public claim_subject, private dispatch_fixture {
public:
  database_subject()
      : stream_(make_campaign(40)), system_(config_), self_(system_), backlog_(1000),
        store_({connection(), 1, std::chrono::seconds{15}, 0}, route, backlog_) {}
  std::vector<due_message> read(std::int32_t limit) override { return due(stream_, limit); }
  result<claim_reply> claim(int shard, std::int32_t group,
                            const std::vector<due_message>& rows) override {
    store_.claim(self_->address(), ask_for(rows, group, shard));
    shared_result<claim_reply> reply;
    self_->receive([&reply](const group_claimed& answer) { reply = answer.reply; },
                   caf::after(std::chrono::seconds{30}) >> [] {});
    BOOST_REQUIRE(reply != nullptr);
    return *reply;
  }
  void take_over(int shard) override {
    ask("UPDATE shards SET epoch = nextval('epochs') WHERE index = " + std::to_string(shard));
  }
  void pause_stream() override {
    ask("UPDATE streams SET state = 'paused' WHERE id = " + std::to_string(stream_.value()));
  }
  void give_key(std::vector<due_message>& rows) override {
    new_key key;
    key.environment = "test";
    key.name = "shop";
    key.scopes = {key_scope::send};
    key_ = must(create_key(*db, ids, key, "cli:test"));
    for (auto& row : rows) {
      ask("UPDATE messages SET key = " + std::to_string(key_.value())
          + " WHERE id = " + std::to_string(row.of.message.value()));
      row.key = key_;
    }
  }
  void revoke_key() override { must(paceline::revoke_key(*db, key_, "cli:test")); }

private:
  connection_options connection() const {
    connection_options options;
    options.dsn = dsn;
    return options;
  }

  stream_id stream_;
  key_id key_;
  caf::actor_system_config config_;
  caf::actor_system system_;
  caf::scoped_actor self_;
  record_backlog backlog_;
  pool_shard_store store_;
};

} // namespace

BOOST_AUTO_TEST_CASE(the_store_on_postgresql_claims_as_the_fake_does) {
  check_claims([] { return std::make_unique<database_subject>(); });
}
