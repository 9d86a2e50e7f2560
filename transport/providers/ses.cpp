#include "transport/providers/ses.hpp"

#include <utility>
#include <vector>

#include "transport/aws/ses_account.hpp"
#include "transport/aws/ses_answers.hpp"
#include "transport/aws/signed_request.hpp"
#include "transport/outgoing/http_client.hpp"
#include "transport/providers/ses_request.hpp"

namespace paceline {
namespace {

using std::chrono::seconds;

constexpr std::string_view json_type = "application/json";
constexpr std::string_view send_target = "/v2/email/outbound-emails";
constexpr std::string_view account_target = "/v2/email/account";
constexpr int most_signature_refusals = 5;
constexpr auto least_quota_gap = seconds{1};

provider_answer unsent(reason_code reason, std::string diagnostic) {
  provider_answer answer;
  answer.kind = outcome_kind::not_started;
  answer.reason = reason;
  answer.diagnostic = std::move(diagnostic);
  return answer;
}

class ses_provider final : public provider {
public:
  ses_provider(reactor& loop, const ses_options& options)
      : loop_(loop), options_(options),
        requests_(options.endpoint.empty() ? aws_endpoint("email", options.region)
                                           : options.endpoint,
                  options.region, "ses"),
        http_(loop, options.connections), credentials_(loop, options.credentials) {
    credentials_.on_looked([this] { on_credentials(); });
    on_credentials();
    warm();
  }

  void start(call& what, answer_function answered) override;
  void ask_quota(quota_function answered) override;
  void ask_health(std::function<void(bool)> answered) override;

private:
  /// Why the call can't even be made; nothing if it can.
  std::optional<provider_answer> obstacle(const outgoing_message& message) const;
  outgoing_request signed_call(aws_call what) {
    return requests_.make(std::move(what), *credentials_.current(),
                          options_.wall() + clock_offset_);
  }
  bool may_sign() const { return credentials_.current() != nullptr && !awaits_credentials_; }
  provider_answer judge(const http_result& came, const outgoing_message& about,
                        std::uint64_t signing);
  void put_right(const ses_verdict& refused);
  void correct_clock(std::int64_t provider_time);
  void on_credentials();
  void take_account(const http_result& came, std::uint64_t signing);
  void tell_account(const ses_account& account);
  std::string front_page() const { return requests_.url() + "/"; }
  void warm() { http_.keep_free(front_page(), options_.warm_connections); }
  void warn(std::string_view text, std::string_view detail);

  reactor& loop_;
  ses_options options_;
  request_maker requests_;
  http_client http_;
  credentials_chain credentials_;

  std::int64_t clock_offset_ = 0; ///< seconds that the provider's clock is ahead of ours
  /// How often clock or credentials were put right. Calls that were on the wire then are refused
  /// for the old fault and say nothing about the new state.
  std::uint64_t signing_ = 0;
  int signature_refusals_ = 0; ///< one after the other, each after something was put right
  bool awaits_credentials_ = false;
  std::string told_problem_;

  std::vector<quota_function> quota_askers_; ///< not empty: a question is on its way
  boot_instant quota_asked_{};
  result<quota_reading> last_quota_{error{error_kind::unavailable, "never asked"}};
  std::string told_account_;
};

// Sending ---------------------------------------------------------------------

std::optional<provider_answer> ses_provider::obstacle(const outgoing_message& message) const {
  if (message.raw_size() > max_ses_message) {
    provider_answer answer;
    answer.kind = outcome_kind::rejected;
    answer.refused = refusal::this_message;
    answer.reason = reason_code::provider_rejected;
    answer.diagnostic = "the message has " + std::to_string(message.raw_size())
                        + " octets; SES takes " + std::to_string(max_ses_message);
    return answer;
  }
  if (may_sign())
    return std::nullopt;
  return unsent(reason_code::provider_unreachable,
                awaits_credentials_ ? "SES refuses the AWS credentials; waiting for new ones"
                                    : "no AWS credentials: " + credentials_.problem());
}

void ses_provider::start(call& what, answer_function answered) {
  const auto& message = what.message();
  if (auto why = obstacle(message))
    return answered(std::move(*why));
  if (!http_.is_ready(front_page()))
    return answered(no_free_connection());
  aws_call send;
  send.target = send_target;
  send.content_type = json_type;
  send.body = send_email_body(message, options_.configuration_set);
  http_.send(
      signed_call(std::move(send)), [&what] { return what.may_write(); },
      [this, &what, signing = signing_, answered = std::move(answered)](http_result came) {
        answered(judge(came, what.message(), signing));
      });
}

provider_answer ses_provider::judge(const http_result& came, const outgoing_message& about,
                                    std::uint64_t signing) {
  auto verdict = judge_send(came, about);
  if (verdict.what == ses_class::accepted) {
    signature_refusals_ = 0;
  } else if (verdict.what == ses_class::resign) {
    if (signing == signing_ && !awaits_credentials_)
      put_right(verdict);
    if (signature_refusals_ >= most_signature_refusals)
      verdict = give_up_signing(std::move(verdict));
  } else if (verdict.what == ses_class::account_stop && came.status == 403) {
    // Whoever puts the credentials right and starts the route again wants them used.
    credentials_.renew();
  }
  return std::move(verdict.answer);
}

void ses_provider::put_right(const ses_verdict& refused) {
  ++signature_refusals_;
  warn("SES refused a signature", refused.answer.diagnostic);
  if (refused.needs == resign_need::clock && refused.provider_time)
    return correct_clock(*refused.provider_time);
  awaits_credentials_ = true;
  credentials_.renew();
}

void ses_provider::correct_clock(std::int64_t provider_time) {
  ++signing_;
  clock_offset_ = provider_time - options_.wall();
  warn("this machine's clock differs from SES's; signatures use SES's time from now on",
       std::to_string(clock_offset_) + " s");
}

/// After every look for credentials, whatever came of it.
void ses_provider::on_credentials() {
  if (awaits_credentials_) {
    awaits_credentials_ = false;
    ++signing_;
  }
  const auto& problem = credentials_.problem();
  if (!problem.empty() && problem != told_problem_)
    warn("AWS credentials", problem);
  told_problem_ = problem;
}

// Quota and health ------------------------------------------------------------

void ses_provider::ask_quota(quota_function answered) {
  const auto now = loop_.now();
  const bool is_asking = !quota_askers_.empty();
  if (!is_asking && quota_asked_ != boot_instant{} && now - quota_asked_ < least_quota_gap)
    return answered(last_quota_);
  if (!may_sign())
    return answered(error{error_kind::unavailable, obstacle({})->diagnostic});
  quota_askers_.push_back(std::move(answered));
  if (is_asking)
    return;
  quota_asked_ = now;
  http_.send(
      signed_call({"GET", std::string{account_target}, {}, {}}), [] { return true; },
      [this, signing = signing_](http_result came) { take_account(came, signing); });
}

void ses_provider::take_account(const http_result& came, std::uint64_t signing) {
  const bool is_fine = came.end == transfer_end::answered && came.status == 200;
  const auto account = is_fine ? read_account(came.body) : std::nullopt;
  if (account) {
    last_quota_ = account->quota;
    signature_refusals_ = 0;
    tell_account(*account);
  } else {
    // A clock that is wrong is often met here first, before there is a rate to send at.
    auto verdict = judge(came, {}, signing);
    if (verdict.diagnostic.empty())
      verdict.diagnostic = "the answer can't be read";
    warn("SES did not tell its quota", verdict.diagnostic);
    last_quota_ = error{error_kind::unavailable, std::move(verdict.diagnostic)};
  }
  warm();
  for (const auto& answered : std::exchange(quota_askers_, {}))
    answered(last_quota_);
}

/// What the account may not do, once until it changes.
void ses_provider::tell_account(const ses_account& account) {
  std::string limits;
  if (!account.sending_enabled)
    limits += "sending is disabled for the account; ";
  if (!account.enforcement.empty() && account.enforcement != "HEALTHY")
    limits += "the account's status is " + account.enforcement.substr(0, 64) + "; ";
  if (!account.production_access)
    limits += "the account is in the sandbox: only verified recipients are reached; ";
  if (limits == std::exchange(told_account_, limits) || limits.empty())
    return;
  limits.resize(limits.size() - 2);
  warn("SES account", limits);
}

/// A SendEmail without content: no SES in good health takes it, and none takes it amiss.
void ses_provider::ask_health(std::function<void(bool)> answered) {
  if (!may_sign())
    return answered(false);
  http_.send(
      signed_call({"POST", std::string{send_target}, std::string{json_type}, "{}"}),
      [] { return true; },
      [answered = std::move(answered)](http_result came) {
        // Any refusal of the request itself will do: sending tells what else may be wrong.
        answered(came.end == transfer_end::answered && came.status >= 400 && came.status < 500);
      });
}

void ses_provider::warn(std::string_view text, std::string_view detail) {
  if (options_.log)
    options_.log->warn(text, {{"route", options_.route}, {"detail", detail}});
}

} // namespace

ses_options ses_options_of(const std::string& name, const route_settings& route,
                           std::chrono::milliseconds call_timeout) {
  ses_options options;
  options.route = name;
  options.region = route.aws_region.empty() ? name.substr(name.find(':') + 1) : route.aws_region;
  options.endpoint = route.endpoint;
  options.configuration_set = route.configuration_set;
  options.credentials.source = route.credentials;
  options.credentials.file = route.credentials_file;
  options.credentials.profile = route.credentials_profile;
  if (route.max_connections > 0)
    options.connections.max_connections = route.max_connections;
  options.connections.ca_file = route.ca_file;
  options.connections.allow_private = route.allow_private;
  options.connections.connect_timeout = route.connect_timeout;
  options.connections.total_timeout = call_timeout;
  options.warm_connections = static_cast<std::size_t>(route.warm_connections);
  return options;
}

std::unique_ptr<provider> make_ses_provider(reactor& loop, const ses_options& options) {
  return std::make_unique<ses_provider>(loop, options);
}

} // namespace paceline
