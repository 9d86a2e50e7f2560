#include <boost/test/unit_test.hpp>

#include "tools/paceline/progress.hpp"

using namespace paceline;

namespace {

campaign_view after(std::int64_t accepted, std::int64_t audience = 1000) {
  campaign_view campaign;
  campaign.state = "sending";
  campaign.audience = campaign.expanded = audience;
  campaign.accepted = accepted;
  campaign.open = audience - accepted;
  campaign.target_per_second = 100;
  return campaign;
}

} // namespace

BOOST_AUTO_TEST_SUITE(cli_progress)

BOOST_AUTO_TEST_CASE(one_reading_is_no_rate) {
  progress_meter meter;
  BOOST_TEST(!meter.sent_per_second());
  meter.read(0, after(10));
  BOOST_TEST(!meter.sent_per_second());
  BOOST_TEST(!meter.eta_s());
}

BOOST_AUTO_TEST_CASE(the_rate_is_of_the_last_two_seconds) {
  progress_meter meter;
  for (int at = 0; at <= 10; ++at)
    meter.read(at, after(at * 10)); // 10/s
  BOOST_TEST(meter.sent_per_second().value() == 10.0);
  for (int at = 11; at <= 12; ++at)
    meter.read(at, after(100 + (at - 10) * 50)); // then 50/s
  BOOST_TEST(meter.sent_per_second().value() == 50.0);
}

BOOST_AUTO_TEST_CASE(the_eta_follows_the_rate) {
  progress_meter meter;
  meter.read(0, after(0));
  meter.read(1, after(100));
  BOOST_TEST(meter.eta_s().value() == 9.0);
}

BOOST_AUTO_TEST_CASE(a_standstill_has_no_eta) {
  progress_meter meter;
  meter.read(0, after(100));
  meter.read(1, after(100));
  BOOST_TEST(meter.sent_per_second().value() == 0.0);
  BOOST_TEST(!meter.eta_s());
}

BOOST_AUTO_TEST_CASE(at_the_end_nothing_is_left) {
  progress_meter meter;
  meter.read(0, after(1000));
  BOOST_TEST(meter.eta_s().value() == 0.0);
}

BOOST_AUTO_TEST_CASE(what_is_not_yet_expanded_is_left_too) {
  auto campaign = after(100);
  campaign.expanded = 400;
  campaign.open = 300;
  BOOST_TEST(left_of(campaign) == 900);
}

BOOST_AUTO_TEST_CASE(suppressed_recipients_are_not_sent_but_shorten_the_wait) {
  progress_meter meter;
  meter.read(0, after(0));
  auto campaign = after(0);
  campaign.suppressed = 500;
  campaign.open = 500;
  meter.read(1, campaign);
  BOOST_TEST(meter.sent_per_second().value() == 0.0);
  BOOST_TEST(meter.eta_s().value() == 1.0);
}

BOOST_AUTO_TEST_CASE(the_line_tells_all_and_fits) {
  progress_meter meter;
  auto campaign = after(4210, 10'000);
  campaign.in_flight = 850;
  campaign.unknown = 2;
  meter.read(0, campaign);
  const auto line = progress_line(campaign, meter, 0);
  BOOST_TEST(line == "sent 4,212/10,000  rate -  target 100/s  in flight 850  unknown 2  ETA -");
  BOOST_TEST(progress_line(campaign, meter, 30).size() == 30u);
}

BOOST_AUTO_TEST_CASE(a_paused_campaign_says_so_in_place_of_an_eta) {
  progress_meter meter;
  auto campaign = after(10);
  campaign.state = "paused";
  const auto line = progress_line(campaign, meter, 0);
  BOOST_TEST(line.ends_with("paused"));
  BOOST_TEST(line.find("ETA") == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
