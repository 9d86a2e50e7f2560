/// Signatures against @smithy/signature-v4, the signer of AWS's own SDK for JavaScript.
#include <boost/test/unit_test.hpp>

#include <random>
#include <string>
#include <vector>

#include <rapidjson/document.h>

#include "test/peers/node_peer.hpp"
#include "test/support/run_program.hpp"
#include "transport/aws/credentials.hpp"
#include "transport/aws/sigv4.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

std::string octets_of_hex(const std::string& digits) {
  std::string octets;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    octets += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  return octets;
}

} // namespace

BOOST_AUTO_TEST_SUITE(smithy_signatures)

BOOST_AUTO_TEST_CASE(random_requests_get_the_signature_of_aws_own_signer) {
  const auto script = peer_script("smithy_signatures.mjs");
  if (!script)
    return;
  const auto seed = std::to_string(std::random_device{}());
  BOOST_TEST_MESSAGE("seed " << seed);
  const auto end = run_program({"node", *script, seed, "1000"});
  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  rapidjson::Document list;
  BOOST_REQUIRE(!list.Parse(end.output.c_str()).HasParseError());
  BOOST_REQUIRE(list.Size() == 1000u);
  for (const auto& one : list.GetArray()) {
    sigv4_signer signer{one["region"].GetString(), one["service"].GetString()};
    std::vector<header_to_sign> headers;
    for (const auto& header : one["headers"].GetObject())
      headers.push_back({header.name.GetString(), header.value.GetString()});
    const auto hash = signer.hash(octets_of_hex(one["body"].GetString()));
    const aws_credentials keys{"AKIDEXAMPLE", one["secret"].GetString(), {}, std::nullopt};
    const request_to_sign request{one["method"].GetString(), one["target"].GetString(), headers,
                                  hash};
    BOOST_TEST_CONTEXT("seed " << seed << " " << one["target"].GetString())
    BOOST_TEST(signer.authorize(request, keys, one["date"].GetString())
               == one["authorization"].GetString());
  }
}

BOOST_AUTO_TEST_SUITE_END()
