#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <fstream>

#include "test/unit/outgoing_support.hpp"

using namespace paceline;
using namespace paceline::outgoing_test;

namespace {

/// What a client that trusts `trusted` gets from a server with this identity.
http_result ask(const authority& trusted, const identity& proof, const std::string& host) {
  request_ledger ledger;
  scripted_server server(answering(ledger), &proof);
  client_stage stage(local_options(&trusted));
  auto result = stage.post("https://" + host + ":" + std::to_string(server.port()) + "/", "secret");
  BOOST_TEST(ledger.all().size() == (result.end == transfer_end::answered ? 1u : 0u));
  return result;
}

} // namespace

BOOST_AUTO_TEST_SUITE(outgoing_certificates)

BOOST_AUTO_TEST_CASE(a_server_that_proves_its_name_gets_the_request) {
  authority trusted;
  auto result = ask(trusted, trusted.issue("localhost"), "localhost");
  BOOST_TEST(result.end == transfer_end::answered);
  BOOST_TEST(!result.bad_certificate);
}

BOOST_AUTO_TEST_CASE(an_expired_certificate_is_refused_before_anything_is_written) {
  authority trusted;
  auto result = ask(trusted, trusted.issue("localhost", -60), "localhost");
  BOOST_TEST(result.end == transfer_end::not_written);
  BOOST_TEST(result.bad_certificate);
  BOOST_TEST(result.diagnostic.find("expired") != std::string::npos, result.diagnostic);
}

BOOST_AUTO_TEST_CASE(a_certificate_of_an_unknown_authority_is_refused) {
  authority trusted, stranger("A stranger");
  auto result = ask(trusted, stranger.issue("localhost"), "localhost");
  BOOST_TEST(result.end == transfer_end::not_written);
  BOOST_TEST(result.bad_certificate);
}

BOOST_AUTO_TEST_CASE(an_authority_that_only_has_the_name_of_a_trusted_one_is_refused) {
  authority trusted, impostor;
  auto result = ask(trusted, impostor.issue("localhost"), "localhost");
  BOOST_TEST(result.end == transfer_end::not_written);
}

BOOST_AUTO_TEST_CASE(a_certificate_for_another_name_is_refused) {
  authority trusted;
  auto other = ask(trusted, trusted.issue("elsewhere.example.com"), "localhost");
  BOOST_TEST(other.end == transfer_end::not_written);
  BOOST_TEST(other.bad_certificate);
  auto by_address = ask(trusted, trusted.issue("localhost"), "127.0.0.1");
  BOOST_TEST(by_address.end == transfer_end::not_written);
  BOOST_TEST(by_address.bad_certificate);
}

BOOST_AUTO_TEST_CASE(a_server_without_tls_is_not_talked_to) {
  authority trusted;
  request_ledger ledger;
  scripted_server server(answering(ledger));
  auto options = local_options(&trusted);
  options.connect_timeout = 300ms; // the server waits for the rest of a request
  client_stage stage(options);
  auto result = stage.post("https://localhost:" + std::to_string(server.port()));
  BOOST_TEST(result.end == transfer_end::not_written);
  BOOST_TEST(!result.bad_certificate);
}

BOOST_AUTO_TEST_CASE(http_without_tls_goes_only_where_private_addresses_may) {
  request_ledger ledger;
  scripted_server server(answering(ledger));
  auto options = local_options();
  client_stage allowed(options);
  BOOST_TEST(allowed.post(server.url()).end == transfer_end::answered);
  options.allow_private = false;
  client_stage refused(options);
  BOOST_TEST(refused.post(server.url()).end == transfer_end::not_written);
  BOOST_TEST(server.accepted() == 1);
}

BOOST_AUTO_TEST_CASE(other_protocols_are_refused) {
  client_stage stage(local_options());
  for (std::string url : {"file:///etc/hostname", "ftp://localhost/", "gopher://localhost/",
                          "telnet://localhost/", "no url at all", ""}) {
    auto result = stage.post(url);
    BOOST_TEST(result.end == transfer_end::not_written, url);
    BOOST_TEST(result.body.empty());
  }
}

BOOST_AUTO_TEST_CASE(files_without_authorities_are_named_at_the_start) {
  auto why = [](const std::string& file) -> std::string {
    auto options = local_options();
    options.ca_file = file;
    try {
      client_stage stage(options);
      return "started";
    } catch (const std::runtime_error& failure) {
      return failure.what();
    }
  };
  BOOST_TEST(why("/absent/ca.pem").starts_with("ca_file /absent/ca.pem: No such file"));
  std::string garbage = "/tmp/paceline-garbage-XXXXXX";
  BOOST_REQUIRE(::mkstemp(garbage.data()) >= 0);
  std::ofstream(garbage) << "no certificate";
  BOOST_TEST(why(garbage).starts_with("ca_file " + garbage + ": "));
  std::remove(garbage.c_str());
  authority good;
  BOOST_TEST(why(good.file()) == "started");
}

BOOST_AUTO_TEST_CASE(proxies_of_the_environment_are_left_alone) {
  request_ledger ledger, proxied;
  scripted_server server(answering(ledger)), proxy(answering(proxied));
  ::setenv("http_proxy", proxy.url().c_str(), 1);
  ::setenv("all_proxy", proxy.url().c_str(), 1);
  client_stage stage(local_options());
  auto result = stage.post(server.url(), "direct");
  ::unsetenv("http_proxy");
  ::unsetenv("all_proxy");
  BOOST_TEST(result.end == transfer_end::answered);
  BOOST_TEST(ledger.count("direct") == 1);
  BOOST_TEST(proxy.accepted() == 0);
}

BOOST_AUTO_TEST_SUITE_END()
