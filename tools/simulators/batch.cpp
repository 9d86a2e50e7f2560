#include "tools/simulators/batch.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "config/text.hpp"

namespace paceline::simulators {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t most_items = 100, most_recipients = 50, most_answers = 100'000;
constexpr int slow_factor = 10;

std::string_view text_of(const rapidjson::Value& value) {
  return value.IsString() ? std::string_view{value.GetString(), value.GetStringLength()}
                          : std::string_view{};
}

std::string_view bare(std::string_view mailbox) {
  const auto open = mailbox.rfind('<');
  return open == std::string_view::npos ? mailbox
                                        : mailbox.substr(open + 1, mailbox.find('>') - open - 1);
}

http_answer problem(int status, const std::string& name, const std::string& text) {
  return json_answer(status, "{\"statusCode\":" + std::to_string(status) + ",\"name\":\"" + name
                                 + "\",\"message\":" + json_string(text) + "}");
}

http_answer invalid(const std::string& text) {
  return problem(422, "validation_error", text);
}

std::string canonical(const rapidjson::Value& value) {
  rapidjson::StringBuffer text;
  rapidjson::Writer<rapidjson::StringBuffer> json(text);
  value.Accept(json);
  return {text.GetString(), text.GetSize()};
}

/// `123-4` into message and version.
bool take_pair(std::string_view value, message_tags& into) {
  const auto dash = value.find('-');
  return dash != std::string_view::npos && into.take("paceline-message", value.substr(0, dash))
         && into.take("paceline-version", value.substr(dash + 1));
}

} // namespace

struct batch_service::item {
  std::string raw; ///< the item's JSON
  std::vector<std::string> recipients;
  message_tags tags;

  /// Nothing where all is well.
  std::optional<http_answer> parse(const rapidjson::Value& json) {
    if (!json.IsObject())
      return invalid("Each item must be an object.");
    raw = canonical(json);
    for (const char* name : {"from", "subject"})
      if (!json.HasMember(name) || text_of(json[name]).empty())
        return invalid(std::string{"Missing `"} + name + "` field.");
    if (!json.HasMember("text") && !json.HasMember("html"))
      return invalid("Missing `html` or `text` field.");
    for (const char* kind : {"to", "cc", "bcc"})
      if (json.HasMember(kind))
        add_recipients(json[kind]);
    if (!json.HasMember("to") || recipients.empty() || recipients.size() > most_recipients)
      return invalid("Invalid `to` field: 1 to 50 recipients.");
    for (const auto& one : recipients)
      if (one.find('@') == std::string::npos || one.ends_with('@')
          || behaviour_of(one) == behaviour::reject)
        return invalid("Invalid `to` field. The email address needs to follow the "
                       "`email@example.com` or `Name <email@example.com>` format.");
    return parse_tags(json);
  }

private:
  void add_recipients(const rapidjson::Value& of) {
    if (of.IsString())
      recipients.emplace_back(bare(text_of(of)));
    if (of.IsArray())
      for (const auto& one : of.GetArray())
        recipients.emplace_back(bare(text_of(one)));
  }

  std::optional<http_answer> parse_tags(const rapidjson::Value& json) {
    if (!json.HasMember("tags") || !json["tags"].IsArray())
      return std::nullopt;
    for (const auto& one : json["tags"].GetArray()) {
      if (!one.IsObject() || !one.HasMember("name") || !one.HasMember("value"))
        return invalid("Each tag needs a `name` and a `value`.");
      const bool is_plain = std::all_of(
          one["value"].GetString(), one["value"].GetString() + one["value"].GetStringLength(),
          [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; });
      if (!is_plain)
        return invalid("Tags should only contain ASCII letters, numbers, underscores, or dashes.");
      if (text_of(one["name"]) == "paceline_message" && !take_pair(text_of(one["value"]), tags))
        return invalid("The tag paceline_message should be ID-VERSION.");
    }
    return std::nullopt;
  }
};

bool batch_service::resets_unread(bool is_reused) {
  return with_.fault().what == behaviour::close_before_read
         && with_.draw_fault(call_kind::send, is_reused) == behaviour::close_before_read;
}

http_answer batch_service::answer(http_request& what) {
  with_.count("requests");
  auto answer = answer_in_time(what);
  if (answer.delay.count() == 0)
    answer.delay = with_.draw_latency();
  return answer;
}

http_answer batch_service::answer_in_time(http_request& what) {
  if (what.target != "/emails/batch")
    return problem(404, "not_found", "The requested endpoint does not exist.");
  if (what.method != "POST")
    return problem(405, "method_not_allowed", "Method is not allowed.");
  if (what.header("authorization").empty())
    return problem(401, "missing_api_key", "Missing API key in the authorization header.");
  if (what.header("authorization") != "Bearer " + api_key_)
    return problem(403, "invalid_api_key", "API key is invalid.");
  const auto now = std::chrono::steady_clock::now();
  const bool fits = has_room(now);
  const auto fault = with_.fault().what == behaviour::close_before_read
                         ? behaviour::success
                         : with_.draw_fault(call_kind::send, what.is_reused);
  if (!fits)
    with_.count("throttled");
  auto answer = fits ? take(what, fault) : refusal_answer(behaviour::throttle);
  add_rate_headers(answer, now);
  if (answer.status == 429)
    answer.headers.emplace_back("retry-after", "1");
  return answer;
}

/// Fixed windows, as the headers say.
bool batch_service::has_room(instant now) {
  if (now - window_ >= 1s) {
    window_ = now;
    used_ = 0;
  }
  const auto limit =
      static_cast<std::int64_t>(std::ceil(with_.options().rate * with_.options().tolerance - 1e-9));
  return ++used_ <= limit;
}

void batch_service::add_rate_headers(http_answer& to, instant now) const {
  const auto limit = static_cast<std::int64_t>(with_.options().rate);
  const auto left = std::chrono::ceil<std::chrono::seconds>(window_ + 1s - now);
  to.headers.emplace_back("ratelimit-limit", std::to_string(limit));
  to.headers.emplace_back("ratelimit-remaining",
                          std::to_string(std::max<std::int64_t>(0, limit - used_)));
  to.headers.emplace_back("ratelimit-reset",
                          std::to_string(std::max<std::int64_t>(0, left.count())));
}

http_answer batch_service::take(http_request& what, behaviour fault) {
  const std::string key{what.header("idempotency-key")};
  if (key.size() > 256)
    return problem(400, "invalid_idempotency_key",
                   "The key must be between 1-256 chars. Provide a different key.");
  const auto hash = sha256_hex(what.body);
  const auto known = answers_.find(key);
  if (!key.empty() && known != answers_.end()
      && known->second.until > std::chrono::steady_clock::now()) {
    with_.count("repeats");
    if (known->second.body_hash != hash)
      return problem(409, "invalid_idempotent_request",
                     "This idempotency key has been used with another request body.");
    return json_answer(200, known->second.answer);
  }
  rapidjson::Document json;
  json.Parse(what.body.c_str(), what.body.size());
  if (json.HasParseError() || !json.IsArray() || json.Empty() || json.Size() > most_items)
    return invalid("The body must be an array of 1 to 100 emails.");
  std::vector<item> items(json.Size());
  auto how = fault;
  for (rapidjson::SizeType i = 0; i < json.Size(); ++i) {
    if (auto wrong = items[i].parse(json[i])) {
      with_.count("refused_batches");
      return *wrong;
    }
    if (how == behaviour::success)
      how = behaviour_of(items[i].recipients);
  }
  if (how == behaviour::once_throttle)
    how = with_.is_first_time(hash) ? behaviour::throttle : behaviour::success;
  if (!is_taken(how))
    with_.count("refused_as_asked");
  if (!is_taken(how))
    return refusal_answer(how);
  auto answer = take_all(items, how);
  if (!key.empty() && answer.status == 200)
    remember(key, hash, answer.body);
  spoil(answer, how);
  return answer;
}

http_answer batch_service::take_all(const std::vector<item>& items, behaviour how) {
  std::string ids;
  for (const auto& one : items) {
    if (!with_.accept(one.tags, one.raw, one.recipients.size(), is_unanswered(how)))
      return problem(500, "internal_server_error", "The ledger can't be written.");
    auto number = std::to_string(++ids_);
    number.insert(0, 12 - std::min<std::size_t>(12, number.size()), '0');
    ids += (ids.empty() ? "" : ",") + ("{\"id\":\"11111111-2222-4333-8444-" + number + "\"}");
  }
  with_.count("batches");
  if (how == behaviour::error || how == behaviour::bad_gateway || how == behaviour::gateway_timeout)
    return refusal_answer(how);
  auto answer = json_answer(200, "{\"data\":[" + ids + "]}");
  if (how == behaviour::hang)
    answer.delay = with_.hang();
  else if (how == behaviour::slow)
    answer.delay = slow_factor * with_.draw_latency();
  return answer;
}

http_answer batch_service::refusal_answer(behaviour why) const {
  switch (why) {
  case behaviour::throttle:
    return problem(429, "rate_limit_exceeded",
                   "Too many requests. Please limit the number of requests per second.");
  case behaviour::daily_quota:
    return problem(429, "daily_quota_exceeded", "You have reached your daily email sending quota.");
  case behaviour::paused:
  case behaviour::suspended:
  case behaviour::access_denied:
    return problem(403, "restricted_api_key", "This account may not send.");
  case behaviour::unverified:
  case behaviour::mail_from:
    return problem(403, "validation_error", "The domain is not verified.");
  case behaviour::unavailable:
    return problem(503, "service_unavailable", "The service is unavailable.");
  case behaviour::error:
    return problem(500, "internal_server_error", "An unexpected error occurred.");
  case behaviour::bad_gateway:
    return problem(502, "bad_gateway", "x");
  case behaviour::gateway_timeout:
    return problem(504, "gateway_timeout", "x");
  case behaviour::redirect: {
    auto answer = problem(301, "moved", "x");
    answer.headers.emplace_back("Location", "https://elsewhere.example/");
    return answer;
  }
  case behaviour::close_before_read: {
    http_answer closed;
    closed.how = ending::close;
    return closed;
  }
  default:
    return invalid("Refused as asked: " + name_of(why) + ".");
  }
}

void batch_service::remember(const std::string& key, const std::string& hash,
                             const std::string& answer) {
  if (answers_.size() >= most_answers)
    answers_.clear();
  answers_[key] = {hash, answer, std::chrono::steady_clock::now() + 24h};
}

} // namespace paceline::simulators
