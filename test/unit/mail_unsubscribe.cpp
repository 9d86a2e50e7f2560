#include <boost/test/unit_test.hpp>

#include <set>
#include <string>
#include <thread>
#include <vector>

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>

#include "test/unit/mail_support.hpp"
#include "transport/api/base64url.hpp"
#include "transport/mail/unsubscribe_link.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

const std::string base = "https://mail.example.com", key(32, 'k'), old_key(40, 'o');

unsubscribe_claim claim_of(std::string address = "anna@example.com") {
  return {project_id{3}, "live", stream_id{77}, std::move(address)};
}

std::string token_of(const unsubscribe_links& links, const unsubscribe_claim& claim) {
  const auto link = links.link(claim);
  const auto begin = base + "/unsubscribe/";
  BOOST_REQUIRE(link.starts_with(begin));
  return link.substr(begin.size());
}

std::string hkdf(const std::string& secret, const std::string& info) {
  // RFC 5869, section 2, by hand: extract without salt, then one block of expand.
  const auto hmac = [](const std::string& with, const std::string& text) {
    unsigned char out[32];
    unsigned size = 0;
    HMAC(EVP_sha256(), with.data(), static_cast<int>(with.size()),
         reinterpret_cast<const unsigned char*>(text.data()), text.size(), out, &size);
    return std::string{reinterpret_cast<const char*>(out), size};
  };
  return hmac(hmac(std::string(32, '\0'), secret), info + '\x01');
}

/// A token as the header of unsubscribe_link.hpp describes it, made without its code.
std::string forge(const std::string& secret, const std::string& purpose,
                  const std::string& payload) {
  const auto signing = hkdf(secret, "paceline unsubscribe signing 1");
  const auto sealing = hkdf(secret, "paceline unsubscribe sealing 1");
  const auto text = purpose + '\x01' + payload;
  unsigned char tag[32];
  unsigned size = 0;
  HMAC(EVP_sha256(), signing.data(), 32, reinterpret_cast<const unsigned char*>(text.data()),
       text.size(), tag, &size);
  auto* context = EVP_CIPHER_CTX_new();
  EVP_EncryptInit_ex(context, EVP_aes_256_ctr(), nullptr,
                     reinterpret_cast<const unsigned char*>(sealing.data()), tag);
  std::string sealed(payload.size(), '\0');
  int written = 0;
  EVP_EncryptUpdate(context, reinterpret_cast<unsigned char*>(sealed.data()), &written,
                    reinterpret_cast<const unsigned char*>(payload.data()),
                    static_cast<int>(payload.size()));
  EVP_CIPHER_CTX_free(context);
  return base64url('\x01' + std::string{reinterpret_cast<char*>(tag), 16} + sealed);
}

std::string payload_of(const std::string& address) {
  std::string payload = std::string(7, '\0') + '\x03' + std::string(7, '\0') + '\x4d';
  payload += '\x04' + std::string{"live"} + static_cast<char>(address.size()) + address;
  payload.resize((payload.size() + 63) / 64 * 64, '\0');
  return payload;
}

} // namespace

BOOST_AUTO_TEST_SUITE(mail_unsubscribe)

BOOST_AUTO_TEST_CASE(a_link_says_who_leaves_what) {
  const unsubscribe_links links{base, {key}};
  for (const auto size : {3u, 20u, 63u, 64u, 65u, 200u, 254u}) {
    const auto claim = claim_of(std::string(size, 'a'));
    BOOST_TEST((links.read(token_of(links, claim)) == claim));
  }
  auto other = claim_of();
  other.project = project_id{INT64_MAX};
  other.stream = stream_id{1};
  other.environment = std::string(63, 'e');
  BOOST_TEST((links.read(token_of(links, other)) == other));
}

BOOST_AUTO_TEST_CASE(a_token_is_what_its_description_says) {
  const unsubscribe_links links{base, {key}};
  BOOST_TEST(token_of(links, claim_of())
             == forge(key, "unsubscribe", payload_of("anna@example.com")));
}

BOOST_AUTO_TEST_CASE(tokens_of_the_vectors_are_read_or_refused) {
  const unsubscribe_links links{base, {key, old_key}};
  const auto good = token_of(links, claim_of());
  std::size_t checked = 0;
  const auto vectors = read_vectors("unsubscribe/cases.json");
  for (const auto& one : vectors["cases"].GetArray()) {
    if (!one.HasMember("token"))
      continue;
    const auto kind = text_of(one["token"]);
    std::vector<std::string> tokens;
    if (kind == "tampered")
      for (std::size_t i = 0; i < good.size(); ++i) {
        tokens.push_back(good);
        tokens.back()[i] = good[i] == 'A' ? 'B' : 'A';
      }
    else if (kind == "truncated")
      for (std::size_t i = 0; i < good.size(); ++i)
        tokens.push_back(good.substr(0, i));
    else if (kind == "wrong-purpose")
      tokens.push_back(forge(key, "click", payload_of("anna@example.com")));
    else if (kind == "old-key")
      tokens.push_back(token_of(unsubscribe_links{base, {old_key}}, claim_of()));
    BOOST_REQUIRE_MESSAGE(!tokens.empty(), kind);
    for (const auto& token : tokens)
      BOOST_TEST(links.read(token).has_value() == one["unsubscribed"].GetBool(),
                 kind << " " << token);
    ++checked;
  }
  BOOST_TEST(checked == 4u);
}

BOOST_AUTO_TEST_CASE(what_only_looks_like_a_token_is_refused) {
  const unsubscribe_links links{base, {key}};
  const auto good = token_of(links, claim_of());
  const unsubscribe_links strangers{base, {old_key}};
  BOOST_TEST(!strangers.read(good).has_value());
  for (const std::string& bad :
       {std::string{}, good + "A", good + "=", " " + good, good + good, std::string(108, 'A'),
        std::string(100'000, 'A'), forge(key, "unsubscribe", std::string(64, '\xff')),
        forge(key, "unsubscribe", payload_of("anna@example.com") + std::string(64, '\x01'))})
    BOOST_TEST(!links.read(bad).has_value());
}

BOOST_AUTO_TEST_CASE(tokens_are_opaque_and_made_of_characters_no_client_cuts) {
  const unsubscribe_links links{base, {key}};
  std::set<std::string> tokens;
  for (int i = 0; i < 200; ++i) {
    const auto token = token_of(links, claim_of("anna" + std::to_string(i) + "@example.com"));
    BOOST_TEST(token.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                       "0123456789-_")
               == std::string::npos);
    BOOST_TEST(token.size() == 108u); // whatever the address's length
    const auto octets = read_base64url(token).value();
    BOOST_TEST(octets.find("anna") == std::string::npos);
    BOOST_TEST(octets.find("live") == std::string::npos);
    tokens.insert(token.substr(2, 30));
  }
  BOOST_TEST(tokens.size() == 200u);
  BOOST_TEST(links.link(claim_of()) == links.link(claim_of()));
}

BOOST_AUTO_TEST_CASE(threads_share_links) {
  const unsubscribe_links links{base, {key}};
  const auto expected = links.link(claim_of());
  std::vector<int> wrong(4);
  {
    std::vector<std::jthread> threads;
    for (auto& count : wrong)
      threads.emplace_back([&links, &expected, &count] {
        for (int i = 0; i < 500; ++i)
          count += links.link(claim_of()) == expected ? 0 : 1;
      });
  }
  for (const auto count : wrong)
    BOOST_TEST(count == 0);
}

BOOST_AUTO_TEST_CASE(campaign_mail_carries_the_link_exactly_once) {
  const unsubscribe_links links{base, {key}};
  const auto what = plain_content();
  const auto row = row_for({"anna@example.com"});
  const auto composer = mail_composer::compile(what, {});
  BOOST_REQUIRE(composer);
  const auto message = composer->compose({row, 0, &links, "live"});
  BOOST_REQUIRE(message);
  const auto read = read_message(message->raw);
  const auto link = links.link({row.project, "live", row.stream, "anna@example.com"});
  BOOST_TEST(read.header("List-Unsubscribe") == "<" + link + ">");
  BOOST_TEST(message->raw.find("List-Unsubscribe: <" + link + ">\r\n") != std::string::npos);
  BOOST_TEST(read.header("List-Unsubscribe-Post") == "List-Unsubscribe=One-Click");
  const auto without = read_message(compose_mail(what, row).raw);
  BOOST_TEST(without.count("List-Unsubscribe") == 0u);
  BOOST_TEST(without.count("List-Unsubscribe-Post") == 0u);
  const auto parts = mail_composer::compile(what, {mail_form::parts});
  BOOST_REQUIRE(parts);
  const auto in_parts = parts->compose({row, 0, &links, "live"});
  BOOST_REQUIRE(in_parts);
  BOOST_TEST(in_parts->headers.size() == 2u);
  BOOST_TEST(in_parts->headers.at(0).second == "<" + link + ">");
}

BOOST_AUTO_TEST_CASE(a_link_that_does_not_fit_in_a_line_is_an_error) {
  const unsubscribe_links links{base + "/" + std::string(900, 'p'), {key}};
  const auto what = plain_content();
  const auto row = row_for({"anna@example.com"});
  const auto composer = mail_composer::compile(what, {});
  BOOST_REQUIRE(composer);
  const auto made = composer->compose({row, 0, &links, "live"});
  BOOST_REQUIRE(!made);
  BOOST_TEST(made.failure().text.starts_with("List-Unsubscribe: "));
}

BOOST_AUTO_TEST_SUITE_END()
