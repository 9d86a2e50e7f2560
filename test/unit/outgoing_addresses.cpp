#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>
#include <cstring>

#include "test/unit/outgoing_support.hpp"
#include "transport/outgoing/address_rules.hpp"

using namespace paceline;
using namespace paceline::outgoing_test;
namespace data = boost::unit_test::data;

namespace {

sockaddr_storage address_of(const std::string& text) {
  sockaddr_storage made{};
  auto& four = reinterpret_cast<sockaddr_in&>(made);
  auto& six = reinterpret_cast<sockaddr_in6&>(made);
  if (::inet_pton(AF_INET, text.c_str(), &four.sin_addr) == 1)
    made.ss_family = AF_INET;
  else if (::inet_pton(AF_INET6, text.c_str(), &six.sin6_addr) == 1)
    made.ss_family = AF_INET6;
  else
    BOOST_FAIL("no address: " + text);
  return made;
}

bool is_public(const std::string& text) {
  auto address = address_of(text);
  return is_public_address(reinterpret_cast<const sockaddr&>(address));
}

const std::array refused{
    // this host, loopback, private, shared, link-local
    "0.0.0.0", "0.255.255.255", "127.0.0.1", "127.255.255.254", "10.0.0.1", "10.255.255.255",
    "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.255.255", "100.64.0.1",
    "100.127.255.255", "169.254.169.254", "169.254.170.2",
    // protocol assignments, documentation, benchmarking, relays
    "192.0.0.1", "192.0.0.170", "192.0.2.1", "198.51.100.7", "203.0.113.9", "198.18.0.1",
    "198.19.255.255", "192.88.99.1", "192.31.196.1", "192.52.193.1", "192.175.48.1",
    // multicast, reserved, broadcast
    "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
    // the same of IPv6
    "::", "::1", "fe80::1", "febf::1", "fec0::1", "fc00::1", "fd12:3456:789a::1", "ff02::1",
    "100::1", "2001:db8::1", "2001::1", "2001:2::1", "2001:10::1", "2001:20::1", "3fff::1",
    "2620:4f:8000::1", "5f00::1", "4000::1",
    // IPv4 inside: compatible, mapped, translated, NAT64, 6to4, Teredo (client turned around)
    "::127.0.0.1", "::8.8.8.8", "::ffff:127.0.0.1", "::ffff:10.1.2.3", "::ffff:169.254.169.254",
    "::ffff:0:8.8.8.8", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b::c0a8:1",
    "64:ff9b:1::808:808", "2002:7f00:1::1", "2002:a00:1::1", "2002:a9fe:a9fe::1",
    "2001:0:808:808:0:0:f5ff:fffe", "2001:0:7f00:1::f7f7:f7f7"};

const std::array taken{"8.8.8.8",          "1.1.1.1",         "11.0.0.0",
                       "9.255.255.255",    "100.63.255.255",  "100.128.0.0",
                       "126.255.255.255",  "128.0.0.1",       "169.253.255.255",
                       "169.255.0.0",      "172.15.255.255",  "172.32.0.0",
                       "192.0.1.0",        "192.0.3.0",       "192.167.255.255",
                       "192.169.0.0",      "198.17.255.255",  "198.20.0.0",
                       "223.255.255.255",  "2606:4700::1111", "2a00:1450:4001::200e",
                       "2001:4860::8888",  "2001:200::1",     "::ffff:8.8.8.8",
                       "64:ff9b::808:808", "2002:808:808::1", "2001:0:808:808:0:0:f7f7:f7f7",
                       "3ffe::1",          "2620:4f:7fff::1"};

} // namespace

BOOST_AUTO_TEST_SUITE(outgoing_addresses)

BOOST_DATA_TEST_CASE(no_connection_goes_to_special_addresses, data::make(refused), text) {
  BOOST_TEST(!is_public(text));
}

BOOST_DATA_TEST_CASE(neighbours_of_special_addresses_are_public, data::make(taken), text) {
  BOOST_TEST(is_public(text));
}

BOOST_AUTO_TEST_CASE(other_kinds_of_sockets_are_not_public) {
  sockaddr local{};
  local.sa_family = AF_UNIX;
  BOOST_TEST(!is_public_address(local));
}

BOOST_AUTO_TEST_CASE(addresses_are_shown_as_people_write_them) {
  for (std::string text : {"203.0.113.7", "2001:db8::1"}) {
    auto address = address_of(text);
    BOOST_TEST(text_of(reinterpret_cast<const sockaddr&>(address)) == text);
  }
}

BOOST_DATA_TEST_CASE(no_spelling_of_this_machine_gets_past_the_check,
                     data::make({"127.0.0.1", "localhost", "2130706433", "0x7f.1", "0x7f000001",
                                 "017700000001", "127.1", "[::ffff:127.0.0.1]", "[::1]", "0",
                                 "0.0.0.0", "[::]", "[::ffff:7f00:1]", "127.0.0.1."}),
                     spelling) {
  authority trusted;
  auto proof = trusted.issue("localhost");
  request_ledger ledger;
  scripted_server server(answering(ledger), &proof);
  auto options = local_options(&trusted);
  options.allow_private = false;
  client_stage stage(options);
  auto result =
      stage.post("https://" + std::string(spelling) + ":" + std::to_string(server.port()));
  BOOST_TEST(result.end == transfer_end::not_written);
  BOOST_TEST(server.accepted() == 0);
}

BOOST_AUTO_TEST_CASE(a_name_that_leads_here_is_refused_when_it_is_connected_to) {
  authority trusted;
  auto proof = trusted.issue("mail.example.com");
  request_ledger ledger;
  scripted_server server(answering(ledger), &proof);
  auto here = "mail.example.com:" + std::to_string(server.port());
  for (bool allowed : {false, true}) {
    auto options = local_options(&trusted);
    options.allow_private = allowed;
    options.http2 = false;
    client_stage stage(options);
    auto& engine = stage.client.engine();
    auto transfer = engine.prepare("https://" + here + "/");
    std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> names{
        curl_slist_append(nullptr, (here + ":127.0.0.1").c_str()), curl_slist_free_all};
    curl_easy_setopt(transfer->handle(), CURLOPT_RESOLVE, names.get());
    curl_easy_setopt(transfer->handle(), CURLOPT_NOBODY, 1L);
    std::optional<transfer_result> got;
    engine.start(
        std::move(transfer), [] { return true; },
        [&got](curl_transfer&, const transfer_result& result) { got = result; });
    BOOST_REQUIRE(stage.run_until([&got] { return got.has_value(); }));
    BOOST_TEST(got->end == (allowed ? transfer_end::answered : transfer_end::not_written));
    BOOST_TEST((got->diagnostic.find("127.0.0.1 is no public address") != std::string::npos)
               == !allowed);
    BOOST_TEST(server.accepted() == (allowed ? 1 : 0));
  }
}

BOOST_AUTO_TEST_SUITE_END()
