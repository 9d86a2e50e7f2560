#include "transport/providers/batch_answers.hpp"

#include <string>
#include <string_view>
#include <utility>

#include "config/text.hpp"
#include "transport/api/json_document.hpp"
#include "transport/providers/retry_after.hpp"

namespace paceline {
namespace {

constexpr std::size_t max_provider_id = 200;
constexpr std::size_t max_message = 300;

std::optional<json_value> member(const json_value& of, std::string_view key) {
  if (of.kind() == json_kind::object)
    for (const auto each : of)
      if (each.key() == key)
        return each;
  return std::nullopt;
}

std::string text_of(const json_value& of, std::string_view key) {
  const auto found = member(of, key);
  return found && found->kind() == json_kind::text ? std::string{found->text()} : std::string{};
}

/// `{"statusCode":422,"name":"validation_error","message":"..."}`
struct refusal_body {
  std::string name, message;
};

refusal_body read_refusal(const std::string& body) {
  const auto read = json_document::read(body);
  const auto* document = std::get_if<json_document>(&read);
  if (document == nullptr)
    return {};
  return {text_of(document->root(), "name"), text_of(document->root(), "message")};
}

provider_answer make(outcome_kind kind, refusal refused, reason_code reason,
                     std::string diagnostic) {
  provider_answer answer;
  answer.kind = kind;
  answer.refused = refused;
  answer.reason = reason;
  answer.diagnostic = std::move(diagnostic);
  return answer;
}

provider_answer unknown(reason_code reason, std::string diagnostic) {
  return make(outcome_kind::unknown, refusal::none, reason, std::move(diagnostic));
}

provider_answer paused(std::string diagnostic) {
  return make(outcome_kind::throttled, refusal::sending_paused,
              reason_code::provider_sending_paused, std::move(diagnostic));
}

/// Where no whole answer came.
provider_answer answer_without_status(const http_result& from) {
  switch (from.end) {
  case transfer_end::not_written:
    if (from.bad_certificate)
      return paused(from.diagnostic);
    [[fallthrough]];
  case transfer_end::not_taken:
    return make(outcome_kind::not_started, refusal::none, reason_code::provider_unreachable,
                from.diagnostic);
  case transfer_end::refused:
    return make(outcome_kind::not_started, refusal::none, reason_code::slot_missed, {});
  case transfer_end::timed_out:
    return unknown(reason_code::provider_timeout, from.diagnostic);
  case transfer_end::too_large:
    return unknown(reason_code::provider_server_error, from.diagnostic);
  case transfer_end::lost:
  case transfer_end::answered:
    break;
  }
  return unknown(reason_code::provider_connection_lost, from.diagnostic);
}

std::optional<nanoseconds> wish_of(const http_result& from, std::int64_t now) {
  if (const auto date = from.header("date"))
    now = parse_http_date(*date, now).value_or(now);
  if (const auto value = from.header("retry-after"))
    if (const auto delay = parse_retry_after(*value, now))
      return *delay;
  if (const auto delay = until_reset(rate_headers_of(from)))
    return *delay;
  return std::nullopt;
}

bool is_quota(std::string_view name) {
  return name == "daily_quota_exceeded" || name == "monthly_quota_exceeded";
}

/// What all messages of a sender would meet: a domain or address that may not send.
bool is_for_the_sender(int status, std::string_view name) {
  return name == "invalid_from_address" || (status == 403 && name == "validation_error");
}

/// The account's or the configuration's fault: no message would pass.
bool stops_the_route(int status) {
  switch (status) {
  case 401: // no key, or one without permission
  case 402: // not paid
  case 403: // wrong key
  case 404: // no such place: the endpoint is wrong
  case 405:
  case 410:
    return true;
  default:
    return status >= 300 && status < 400;
  }
}

/// Why the whole request was not taken. Status 300 and above.
provider_answer answer_for_status(const http_result& from, std::size_t count, std::int64_t now) {
  const int status = from.status;
  const auto body = read_refusal(from.body);
  auto text = std::to_string(status);
  for (const auto& part : {body.name, body.message.substr(0, max_message)})
    if (!part.empty())
      text += ' ' + part;
  if (status >= 500 || status == 408 || status == 409)
    return unknown(reason_code::provider_server_error, text);
  if (is_quota(body.name)) {
    auto answer = make(outcome_kind::throttled, refusal::daily_quota,
                       reason_code::provider_daily_quota, text);
    answer.retry_after = wish_of(from, now);
    return answer;
  }
  if (status == 429) {
    auto answer =
        make(outcome_kind::throttled, refusal::rate, reason_code::provider_throttled, text);
    answer.retry_after = wish_of(from, now);
    return answer;
  }
  const bool for_sender = is_for_the_sender(status, body.name);
  if (stops_the_route(status) && !for_sender)
    return paused(text);
  if (count > 1)
    return make(outcome_kind::not_started, refusal::none, reason_code::batch_refused, text);
  if (for_sender)
    return make(outcome_kind::rejected, refusal::stream, reason_code::stream_refused, text);
  return make(outcome_kind::rejected, refusal::this_message, reason_code::provider_rejected, text);
}

/// `{"data":[{"id":"..."},...]}`: what has an id was accepted.
std::vector<provider_answer> answers_of_ids(const std::string& body, std::size_t count) {
  std::vector<provider_answer> answers(count, unknown(reason_code::provider_server_error,
                                                      "an answer without an id for the message"));
  const auto read = json_document::read(body);
  const auto* document = std::get_if<json_document>(&read);
  const auto data = document ? member(document->root(), "data") : std::nullopt;
  if (!data || data->kind() != json_kind::array) {
    for (auto& answer : answers)
      answer.diagnostic = "an answer that nobody can read: " + printable(body);
    return answers;
  }
  std::size_t index = 0;
  for (const auto item : *data) {
    if (index == count)
      break;
    auto& answer = answers[index++];
    const auto id = text_of(item, "id");
    if (id.empty())
      continue;
    answer = make(outcome_kind::accepted, refusal::none, reason_code::none, {});
    answer.provider_id = id.substr(0, max_provider_id);
  }
  return answers;
}

} // namespace

std::vector<provider_answer> batch_answers(const http_result& from, std::size_t count,
                                           std::int64_t now) {
  if (from.end != transfer_end::answered)
    return std::vector<provider_answer>(count, answer_without_status(from));
  if (from.status >= 200 && from.status < 300)
    return answers_of_ids(from.body, count);
  return std::vector<provider_answer>(count, answer_for_status(from, count, now));
}

bool is_healthy_answer(const http_result& from) {
  if (from.end != transfer_end::answered)
    return false;
  switch (from.status) {
  case 400:
  case 413:
  case 422: // an empty batch is none
  case 429: // too many questions, but well
    return true;
  default:
    return from.status >= 200 && from.status < 300;
  }
}

rate_headers rate_headers_of(const http_result& from) {
  return {from.header("ratelimit-limit").value_or(""), from.header("ratelimit-reset").value_or(""),
          from.header("ratelimit-policy").value_or("")};
}

} // namespace paceline
