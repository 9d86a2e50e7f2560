#include "transport/aws/ses_inspection.hpp"

#include <functional>
#include <optional>
#include <utility>

#include "transport/aws/ses_answers.hpp"
#include "transport/aws/signed_request.hpp"
#include "transport/epoll_reactor.hpp"
#include "transport/outgoing/http_client.hpp"

namespace paceline {
namespace {

using std::chrono::seconds;

constexpr auto credentials_patience = seconds{20};
constexpr std::size_t most_pages = 20; // of 100 subscriptions each

class inspection {
public:
  explicit inspection(const ses_options& route)
      : route_(route), http_(loop_, route.connections), credentials_(loop_, route.credentials),
        ses_(route.endpoint.empty() ? aws_endpoint("email", route.region) : route.endpoint,
             route.region, "ses") {}

  std::vector<setup_finding> run(const std::vector<std::string>& identities);

private:
  setup_finding look_at_credentials();
  setup_finding look_at_identity(const std::string& name);
  void look_at_events();
  void look_at_topic(const std::string& arn);
  std::string sns_endpoint(const std::string& region) const;

  http_result ask(request_maker& service, const aws_call& what);
  http_result get(const std::string& target) { return ask(ses_, {"GET", target, {}, {}}); }
  void run_until(const std::function<bool()>& done, nanoseconds patience);

  ses_options route_;
  machine_boot_time clock_;
  epoll_reactor loop_{clock_};
  http_client http_;
  credentials_chain credentials_;
  request_maker ses_;
  std::int64_t clock_offset_ = 0;
  std::vector<setup_finding> findings_;
};

void inspection::run_until(const std::function<bool()>& done, nanoseconds patience) {
  const auto give_up = clock_.now() + patience;
  while (!done() && clock_.now() < give_up) {
    loop_.wait(give_up);
    loop_.run_timers();
  }
}

/// The engine ends each request in time, so that this comes to an end.
http_result inspection::ask(request_maker& service, const aws_call& what) {
  http_result came;
  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto* const keys = credentials_.current();
    if (keys == nullptr) {
      came.diagnostic = credentials_.problem();
      return came;
    }
    std::optional<http_result> answered;
    http_.send(
        service.make(what, *keys, route_.wall() + clock_offset_), [] { return true; },
        [&answered](http_result result) { answered = std::move(result); });
    run_until([&answered] { return answered.has_value(); },
              2 * route_.connections.total_timeout + seconds{5});
    came = answered ? std::move(*answered) : http_result{};
    // A clock that is wrong does not keep a node from sending, so it is no finding either.
    const auto verdict = judge_send(came, {});
    if (verdict.needs != resign_need::clock || !verdict.provider_time)
      break;
    clock_offset_ = *verdict.provider_time - route_.wall();
  }
  return came;
}

setup_finding inspection::look_at_credentials() {
  run_until([this] { return credentials_.current() != nullptr || !credentials_.problem().empty(); },
            credentials_patience);
  if (credentials_.current() != nullptr)
    return {"credentials", true, "from " + credentials_.origin()};
  return {"credentials", false,
          credentials_.problem().empty() ? "no answer" : credentials_.problem()};
}

setup_finding inspection::look_at_identity(const std::string& name) {
  const auto path = [](const std::string& identity) {
    return "/v2/email/identities/" + percent_encoded(identity);
  };
  const auto came = get(path(name));
  const auto at = name.rfind('@');
  if (came.status != 404 || at == std::string::npos)
    return judge_identity(name, came);
  const auto domain = name.substr(at + 1);
  return judge_identity(domain, get(path(domain)));
}

std::string inspection::sns_endpoint(const std::string& region) const {
  const bool is_aws =
      route_.endpoint.empty() || route_.endpoint.find(".amazonaws.com") != std::string::npos;
  return is_aws ? aws_endpoint("sns", region) : route_.endpoint;
}

void inspection::look_at_topic(const std::string& arn) {
  const auto region = region_of_arn(arn);
  if (region.empty()) {
    findings_.push_back({"topic", false, "its name is no ARN of SNS"});
    return;
  }
  request_maker sns{sns_endpoint(region), region, "sns"};
  const auto query = [this, &sns, &arn](const std::string& action, const std::string& more) {
    return ask(sns, {"POST", "/", "application/x-www-form-urlencoded",
                     "Action=" + action + "&TopicArn=" + percent_encoded(arn) + more
                         + "&Version=2010-03-31"});
  };
  findings_.push_back(judge_topic(arn, query("GetTopicAttributes", "")));
  if (!findings_.back().is_right)
    return;
  std::vector<http_result> pages;
  std::string next;
  do {
    pages.push_back(query("ListSubscriptionsByTopic",
                          next.empty() ? "" : "&NextToken=" + percent_encoded(next)));
    next = next_page(pages.back());
  } while (!next.empty() && pages.size() < most_pages);
  findings_.push_back(judge_subscriptions(pages));
}

void inspection::look_at_events() {
  const auto& name = route_.configuration_set;
  if (name.empty()) {
    findings_.push_back({"configuration set", false,
                         "the route has none, so that no feedback comes: set "
                         "routes.<route>.configuration_set"});
    return;
  }
  const auto path = "/v2/email/configuration-sets/" + percent_encoded(name);
  const auto set = get(path);
  findings_.push_back(judge_configuration_set(name, set));
  if (set.status != 200)
    return;
  auto found = judge_event_destinations(get(path + "/event-destinations"));
  findings_.push_back(std::move(found.finding));
  if (!found.topic.empty())
    look_at_topic(found.topic);
}

std::vector<setup_finding> inspection::run(const std::vector<std::string>& identities) {
  findings_.push_back(look_at_credentials());
  if (!findings_.back().is_right)
    return std::move(findings_);
  findings_.push_back(judge_account(get("/v2/email/account")));
  for (const auto& name : identities)
    findings_.push_back(look_at_identity(name));
  look_at_events();
  return std::move(findings_);
}

} // namespace

std::vector<setup_finding> inspect_ses(const ses_options& route,
                                       const std::vector<std::string>& identities) {
  return inspection{route}.run(identities);
}

} // namespace paceline
