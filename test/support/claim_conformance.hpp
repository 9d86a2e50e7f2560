/// What a shard may rely on when it claims: the same properties for the fake store and for the one
/// on PostgreSQL. Included by the tests of both.
#pragma once

#include <algorithm>
#include <set>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "storage/claims.hpp"

namespace paceline::test {

/// A store with one stream of due messages and two shards, numbered 0 and 1.
class claim_subject {
public:
  virtual ~claim_subject() = default;
  /// Due messages of the stream, whoever's part they are; at most `limit`.
  virtual std::vector<due_message> read(std::int32_t limit) = 0;
  virtual result<claim_reply> claim(int shard, std::int32_t group,
                                    const std::vector<due_message>& rows) = 0;
  /// Somebody else owns the shard from now on; `claim` goes on under the old epoch.
  virtual void take_over(int shard) = 0;
  virtual void pause_stream() = 0;
  /// The messages of `rows` were accepted by a key that is live until `revoke_key`.
  virtual void give_key(std::vector<due_message>& rows) = 0;
  virtual void revoke_key() = 0;
};

inline std::set<attempt> attempts_in(const claim_reply& reply) {
  std::set<attempt> found;
  for (const auto& row : reply.rows)
    found.insert(row.of);
  return found;
}

inline void shards_claim_distinct_rows(claim_subject& subject) {
  const auto rows = subject.read(20);
  BOOST_REQUIRE(rows.size() == 20u);
  const auto first = subject.claim(0, 1, {rows.begin(), rows.begin() + 12});
  const auto second = subject.claim(1, 1, rows);
  BOOST_REQUIRE((first && second));
  BOOST_TEST(first->rows.size() == 12u);
  BOOST_TEST(second->rows.size() == 8u);
  auto all = attempts_in(*first);
  all.merge(attempts_in(*second));
  BOOST_TEST(all.size() == 20u);
  for (const auto& row : subject.read(100))
    BOOST_TEST(!all.contains(row.of));
}

inline void a_repeated_claim_returns_the_same_rows(claim_subject& subject) {
  const auto rows = subject.read(10);
  const auto first = subject.claim(0, 1, rows);
  const auto again = subject.claim(0, 1, rows);
  BOOST_REQUIRE((first && again));
  BOOST_TEST(first->rows.size() == 10u);
  BOOST_TEST((attempts_in(*first) == attempts_in(*again)));
  const auto later = subject.claim(0, 2, rows);
  BOOST_REQUIRE(!!later);
  BOOST_TEST(later->still_owner);
  BOOST_TEST(later->rows.empty());
}

inline void an_older_group_gets_nothing(claim_subject& subject) {
  const auto rows = subject.read(10);
  BOOST_REQUIRE(!!subject.claim(0, 5, {rows.begin(), rows.begin() + 5}));
  const auto stray = subject.claim(0, 4, rows);
  BOOST_REQUIRE(!!stray);
  BOOST_TEST(stray->rows.empty());
}

inline void a_stale_epoch_gets_nothing(claim_subject& subject) {
  const auto rows = subject.read(10);
  subject.take_over(0);
  const auto reply = subject.claim(0, 1, rows);
  BOOST_REQUIRE(!!reply);
  BOOST_TEST(!reply->still_owner);
  BOOST_TEST(reply->rows.empty());
  BOOST_TEST(subject.read(100).size() >= 10u);
}

inline void a_paused_stream_yields_nothing_new_and_starts_nothing_old(claim_subject& subject) {
  const auto rows = subject.read(10);
  const std::vector<due_message> half(rows.begin(), rows.begin() + 5);
  BOOST_REQUIRE(!!subject.claim(0, 1, half));
  subject.pause_stream();
  const auto again = subject.claim(0, 1, half);
  BOOST_REQUIRE(!!again);
  BOOST_TEST(again->rows.size() == 5u);
  for (const auto& row : again->rows)
    BOOST_TEST(!row.may_start);
  const auto fresh = subject.claim(0, 2, {rows.begin() + 5, rows.end()});
  BOOST_REQUIRE(!!fresh);
  BOOST_TEST(fresh->still_owner);
  BOOST_TEST(fresh->rows.empty());
}

inline void a_revoked_key_yields_nothing_new_and_starts_nothing_old(claim_subject& subject) {
  auto rows = subject.read(10);
  std::vector<due_message> keyed(rows.begin(), rows.begin() + 6);
  subject.give_key(keyed);
  const std::vector<due_message> first(keyed.begin(), keyed.begin() + 3);
  const auto claimed = subject.claim(0, 1, first);
  BOOST_REQUIRE(!!claimed);
  BOOST_TEST(claimed->rows.size() == 3u);
  BOOST_TEST(claimed->rows.front().may_start);
  subject.revoke_key();
  const auto again = subject.claim(0, 1, first);
  BOOST_REQUIRE(!!again);
  BOOST_TEST(again->rows.size() == 3u);
  for (const auto& row : again->rows)
    BOOST_TEST(!row.may_start);
  std::copy(keyed.begin() + 3, keyed.end(), rows.begin() + 3);
  const auto fresh = subject.claim(0, 2, {rows.begin() + 3, rows.end()});
  BOOST_REQUIRE(!!fresh);
  BOOST_TEST(fresh->rows.size() == 4u);
}

/// `make()` gives a fresh subject each time.
template <class Make>
void check_claims(Make make) {
  for (auto* property : {&shards_claim_distinct_rows, &a_repeated_claim_returns_the_same_rows,
                         &an_older_group_gets_nothing, &a_stale_epoch_gets_nothing,
                         &a_paused_stream_yields_nothing_new_and_starts_nothing_old,
                         &a_revoked_key_yields_nothing_new_and_starts_nothing_old})
    property(*make());
}

} // namespace paceline::test
