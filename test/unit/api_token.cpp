#include <boost/test/unit_test.hpp>

#include "transport/api/base64url.hpp"
#include "transport/api/token.hpp"

namespace paceline {
namespace {

token_secret counting() {
  token_secret secret{};
  for (std::size_t i = 0; i < secret.size(); ++i)
    secret[i] = static_cast<std::uint8_t>(i * 7 + 200);
  return secret;
}

} // namespace

BOOST_AUTO_TEST_SUITE(api_token)

BOOST_AUTO_TEST_CASE(a_token_gives_its_key_and_the_hash_of_its_secret_back) {
  const auto token = make_token(key_id{373217432412160000}, counting());
  BOOST_TEST(token.starts_with("pl_373217432412160000_"));
  const auto parsed = parse_token(token);
  BOOST_REQUIRE(parsed);
  BOOST_TEST((parsed->key == key_id{373217432412160000}));
  BOOST_TEST(is_same_hash(parsed->hash, hash_secret(counting())));
}

BOOST_AUTO_TEST_CASE(the_hash_is_sha_256_of_the_secret) {
  // `head -c 32 /dev/zero | sha256sum`
  const auto hash = hash_secret(token_secret{});
  BOOST_TEST(int{hash[0]} == 0x66);
  BOOST_TEST(int{hash[1]} == 0x68);
  BOOST_TEST(int{hash[31]} == 0x25);
}

BOOST_AUTO_TEST_CASE(another_secret_has_another_hash) {
  auto other = counting();
  other[31] ^= 1;
  BOOST_TEST(!is_same_hash(hash_secret(counting()), hash_secret(other)));
}

BOOST_AUTO_TEST_CASE(whatever_is_not_exactly_a_token_is_none) {
  const auto token = make_token(key_id{17}, counting());
  BOOST_REQUIRE(parse_token(token));
  const std::string secret = token.substr(6);
  for (const auto& wrong :
       {std::string{}, std::string{"pl_"}, std::string{"pl__"}, token + "A", token + "=",
        token.substr(0, token.size() - 1), " " + token, "PL_17_" + secret, "pl_017_" + secret,
        "pl_-17_" + secret, "pl_0_" + secret, "pl_+17_" + secret, "pl_17 _" + secret,
        "pl_99999999999999999999_" + secret, "pl_17_" + std::string(43, '+'), "pl__" + secret})
    BOOST_TEST(!parse_token(wrong), wrong);
}

BOOST_AUTO_TEST_CASE(a_secret_has_one_spelling) {
  // The last of 43 characters carries 4 bits; one with its 2 unused bits set would be a second
  // spelling of the same secret.
  auto token = make_token(key_id{17}, token_secret{});
  BOOST_TEST(token.back() == 'A');
  token.back() = 'B';
  BOOST_TEST(!parse_token(token));
}

BOOST_AUTO_TEST_CASE(base64url_is_as_rfc_4648_has_it) {
  BOOST_TEST(base64url("") == "");
  BOOST_TEST(base64url("f") == "Zg");
  BOOST_TEST(base64url("fo") == "Zm8");
  BOOST_TEST(base64url("foo") == "Zm9v");
  BOOST_TEST(base64url("\xfb\xff") == "-_8");
  for (const std::string text : {"", "f", "fo", "foo", "foob", "\xff\xfe\xfd"})
    BOOST_TEST(read_base64url(base64url(text)).value() == text);
  for (const auto* wrong : {"Z", "Zg==", "Zh", "+_8", "Zm9v\n"})
    BOOST_TEST(!read_base64url(wrong), wrong);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace paceline
