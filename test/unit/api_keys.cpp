#include <boost/test/unit_test.hpp>

#include "transport/api/key_cache.hpp"

namespace paceline {
namespace {

constexpr std::int64_t above = 500; // ids up to here have a key
constexpr boot_instant now{std::chrono::seconds{1000}};

parsed_token token_of(std::int64_t id) {
  return {key_id{id}, hash_secret(token_secret{})};
}

/// A cache before a database that counts how often it is asked.
struct counted_cache {
  int looks = 0;
  key_cache cache{[this](key_id id) -> result<api_key> {
                    ++looks;
                    if (id.value() > above)
                      return error{error_kind::not_found, "no such key"};
                    api_key key;
                    key.id = id;
                    key.is_valid = true;
                    key.secret_hash = hash_secret(token_secret{});
                    return key;
                  },
                  [](const std::vector<key_id>&) {}};

  bool knows(std::int64_t id) { return *cache.authenticate(token_of(id), now) != nullptr; }
};

} // namespace

BOOST_AUTO_TEST_SUITE(api_keys)

BOOST_AUTO_TEST_CASE(no_number_of_guessed_ids_drives_a_good_key_out) {
  counted_cache keys;
  int guesses = 0;
  while (guesses < static_cast<int>(key_cache::most))
    BOOST_REQUIRE(!keys.knows(above + ++guesses));
  for (std::int64_t good = 1; good <= above; ++good) {
    BOOST_REQUIRE(keys.knows(good));
    BOOST_REQUIRE(!keys.knows(above + ++guesses));
    BOOST_REQUIRE(keys.knows(good));
  }
  BOOST_TEST(keys.looks == above + guesses);
}

BOOST_AUTO_TEST_CASE(a_guessed_id_costs_one_look) {
  counted_cache keys;
  for (int i = 0; i < 10; ++i)
    BOOST_TEST(!keys.knows(above + 1));
  BOOST_TEST(keys.looks == 1);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace paceline
