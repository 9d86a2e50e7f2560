#include <boost/test/unit_test.hpp>

#include <string>

#include "tools/simulators/batch.hpp"
#include "tools/simulators/smtp.hpp"

using namespace paceline::simulators;

namespace {

std::string item(const std::string& to, const std::string& tag) {
  return R"({"from":"a@example.com","to":[")" + to + R"("],"subject":"s","text":"t","tags":[)"
         + R"({"name":"paceline_message","value":")" + tag + R"("}]})";
}

/// A batch stand-in with room for everything.
class desk {
public:
  desk() : shared_(options()), service_(shared_, "key") {}

  http_answer post(const std::string& body, const std::string& key = "") {
    http_request request;
    request.method = "POST";
    request.target = "/emails/batch";
    request.headers = {{"Authorization", "Bearer key"}};
    if (!key.empty())
      request.headers.emplace_back("Idempotency-Key", key);
    request.body = body;
    return service_.answer(request);
  }
  std::int64_t accepted() const {
    const auto found = shared_.counters().find("accepted");
    return found == shared_.counters().end() ? 0 : found->second;
  }
  simulation& shared() { return shared_; }

private:
  static simulation_options options() {
    simulation_options wanted;
    wanted.rate = 1000;
    wanted.latency_ms = 0;
    return wanted;
  }
  simulation shared_;
  batch_service service_;
};

} // namespace

BOOST_AUTO_TEST_SUITE(simulators_of_mail)

BOOST_AUTO_TEST_CASE(a_repeated_batch_gets_the_same_answer_and_takes_nothing) {
  desk with;
  const auto body = "[" + item("a@example.com", "1-0") + "," + item("b@example.com", "2-0") + "]";
  const auto first = with.post(body, "k"), again = with.post(body, "k");
  BOOST_TEST(first.status == 200);
  BOOST_TEST(again.body == first.body);
  BOOST_TEST(with.accepted() == 2);
  BOOST_TEST(with.post("[" + item("c@example.com", "3-0") + "]", "k").status == 409);
  BOOST_TEST(with.accepted() == 2);
}

BOOST_AUTO_TEST_CASE(a_batch_is_remembered_even_where_its_answer_was_lost) {
  desk with;
  active_fault fault;
  fault.what = behaviour::close_after_read;
  with.shared().set_fault(fault);
  const auto body = "[" + item("a@example.com", "1-0") + "]";
  BOOST_TEST((with.post(body, "k").how == ending::close));
  with.shared().set_fault({});
  BOOST_TEST(with.post(body, "k").status == 200);
  BOOST_TEST(with.accepted() == 1);
}

BOOST_AUTO_TEST_CASE(one_invalid_item_refuses_the_batch_as_a_whole) {
  desk with;
  BOOST_TEST(with.post("[" + item("a@example.com", "1-0") + ","
                       + item("reject@simulator.paceline.test", "2-0") + "]")
                 .status
             == 422);
  BOOST_TEST(with.post("[]").status == 422);
  std::string many;
  for (int i = 0; i <= 100; ++i)
    many += (many.empty() ? "[" : ",") + item("a@example.com", "1-0");
  BOOST_TEST(with.post(many + "]").status == 422);
  BOOST_TEST(with.accepted() == 0);
}

BOOST_AUTO_TEST_CASE(batches_beyond_the_rate_hear_when_to_come_again) {
  desk with;
  with.shared().set_rate(1, 1, {});
  const auto body = "[" + item("a@example.com", "1-0") + "]";
  int refused = 0;
  for (int i = 0; i < 3; ++i) {
    const auto answer = with.post(body);
    refused += answer.status == 429 && answer.headers.back().first == "retry-after" ? 1 : 0;
  }
  BOOST_TEST(refused >= 1); // the window's end may fall between them
}

BOOST_AUTO_TEST_CASE(mail_says_whose_it_is) {
  const auto from_headers =
      tags_of_mail("Subject: x\r\nx-paceline-message: 7\r\nX-Paceline-Version: 2\r\n\r\n");
  BOOST_TEST(from_headers.message == 7);
  BOOST_TEST(from_headers.version == 2);
  const auto from_id = tags_of_mail("Message-ID: <8.3.abc@example.com>\r\n\r\n");
  BOOST_TEST(from_id.message == 8);
  BOOST_TEST(from_id.version == 3);
  BOOST_TEST(tags_of_mail("Subject: x\r\n\r\nMessage-ID: <9.1@example.com>\r\n").message == 0);
}

BOOST_AUTO_TEST_SUITE_END()
