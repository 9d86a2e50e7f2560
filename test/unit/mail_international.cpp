#include <boost/test/unit_test.hpp>

#include <string>

#include "storage/suppressions.hpp"
#include "test/unit/mail_support.hpp"
#include "transport/mail/address.hpp"
#include "transport/mail/international_domain.hpp"

using namespace paceline;
using namespace paceline::test;

BOOST_AUTO_TEST_SUITE(mail_international)

BOOST_AUTO_TEST_CASE(domains_become_what_the_vectors_say) {
  const auto vectors = read_vectors("idna/domains.json");
  std::size_t accepted = 0, refused = 0;
  for (const auto& one : vectors["cases"].GetArray()) {
    const auto domain = text_of(one["unicode"]);
    BOOST_TEST_CONTEXT(domain << " " << one["note"].GetString()) {
      const auto checked = check_address("anna@" + domain);
      if (one["ascii"].IsNull()) {
        BOOST_TEST(!checked.address.has_value());
        BOOST_TEST(!checked.problem.empty());
        ++refused;
        continue;
      }
      BOOST_REQUIRE_MESSAGE(checked.address.has_value(), checked.problem);
      BOOST_TEST(normalized_address(*checked.address) == "anna@" + text_of(one["ascii"]));
      ++accepted;
    }
  }
  BOOST_TEST(accepted == 15u);
  BOOST_TEST(refused == 11u);
}

BOOST_AUTO_TEST_CASE(a_domain_has_one_spelling_however_it_was_written) {
  for (const char* same : {"a@b\xc3\xbc"
                           "cher.example",
                           "a@B\xc3\x9c"
                           "CHER.example",
                           "a@xn--bcher-kva.example", "a@XN--BCHER-KVA.EXAMPLE",
                           "a@bu\xcc\x88"
                           "cher.example"})
    BOOST_TEST(normalized_address(check_address(same).address.value())
               == "a@xn--bcher-kva.example");
  BOOST_TEST(!needs_idna("example.com"));
  BOOST_TEST(!needs_idna("axn--b.example"));
  BOOST_TEST(needs_idna("a.XN--b.example"));
}

BOOST_AUTO_TEST_CASE(punycode_of_the_rfc_reads_as_the_same_domain) {
  std::size_t checked = 0;
  const auto vectors = read_vectors("idna/rfc3492-7.1.json");
  for (const auto& one : vectors["cases"].GetArray()) {
    const auto ascii = ascii_domain(text_of(one["unicode"]) + ".example");
    // Samples with characters that no domain may have (upper case is mapped, others refused).
    if (!ascii)
      continue;
    auto expected = "xn--" + text_of(one["punycode"]) + ".example";
    BOOST_TEST_CONTEXT(one["name"].GetString()) {
      BOOST_TEST(check_address("a@" + *ascii).address.has_value());
      if (text_of(one["unicode"]).find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") == std::string::npos)
        BOOST_TEST(*ascii == normalized_address(expected));
    }
    ++checked;
  }
  BOOST_TEST(checked >= 10u);
}

BOOST_AUTO_TEST_CASE(local_parts_outside_ascii_are_refused_and_domains_are_not) {
  const auto vectors = read_vectors("idna/smtputf8-6531.json");
  for (const auto& one : vectors["cases"].GetArray()) {
    const auto address = text_of(one["address"]);
    const auto checked = check_address(address);
    BOOST_TEST_CONTEXT(address) {
      BOOST_TEST(checked.address.has_value() == !one["needs_smtputf8"].GetBool());
      if (!checked.address)
        BOOST_TEST(checked.problem.find("before the @") != std::string::npos);
    }
  }
  BOOST_TEST(check_address("user@\xe4\xbe\x8b\xe3\x81\x88.\xe3\x83\x86\xe3\x82\xb9\xe3\x83\x88")
                 .address.value()
             == "user@xn--r8jz45g.xn--zckzah");
  BOOST_TEST(check_address("xn--user-abc@example.com").address.value()
             == "xn--user-abc@example.com");
}

BOOST_AUTO_TEST_CASE(a_sender_is_stored_with_its_domain_in_ascii) {
  const std::string domain = "b\xc3\xbc"
                             "cher.example";
  BOOST_TEST(ascii_mailbox("\"M\xc3\xbc, A\" <a@" + domain + ">")
             == "\"M\xc3\xbc, A\" <a@xn--bcher-kva.example>");
  BOOST_TEST(ascii_mailbox("a@" + domain) == "a@xn--bcher-kva.example");
  for (const char* same : {"a@b.cd", " a@B.cd ", "Ann <a@b.cd>", "\"A\" <a@b.cd>"})
    BOOST_TEST(ascii_mailbox(same) == same);
}

BOOST_AUTO_TEST_CASE(every_part_of_a_message_has_the_domain_in_ascii) {
  auto what = plain_content();
  what.sender = "B\xc3\xbc"
                "cher <news@b\xc3\xbc"
                "cher.example>";
  what.headers = "{\"Reply-To\":\"Ann <ann@b\xc3\xbc"
                 "cher.example>\"}";
  auto row = row_for({"anna@xn--bcher-kva.example"});
  row.addresses = "{\"to\":[\"Anna <anna@b\xc3\xbc"
                  "cher.example>\"]}";
  const auto message = compose_mail(what, row);
  check_octets(message.raw);
  const auto read = read_message(message.raw);
  BOOST_TEST(read.header("From")
             == "B\xc3\xbc"
                "cher <news@xn--bcher-kva.example>");
  BOOST_TEST(read.header("To") == "Anna <anna@xn--bcher-kva.example>");
  BOOST_TEST(read.header("Reply-To") == "Ann <ann@xn--bcher-kva.example>");
  BOOST_TEST(read.header("Message-ID") == "<7001.2@xn--bcher-kva.example>");
  BOOST_TEST(message.sender.ends_with("<news@xn--bcher-kva.example>"));
  const auto parts = compose_mail(what, row, mail_form::parts);
  BOOST_TEST(parts.to.at(0).ends_with("<anna@xn--bcher-kva.example>"));
}

BOOST_AUTO_TEST_SUITE_END()
