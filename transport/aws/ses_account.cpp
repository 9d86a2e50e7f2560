#include "transport/aws/ses_account.hpp"

#include <charconv>
#include <cmath>
#include <variant>

#include "transport/api/json_document.hpp"

namespace paceline {
namespace {

std::optional<double> number_of(const json_value& value) {
  if (value.kind() != json_kind::number)
    return std::nullopt;
  double number = 0;
  const auto text = value.text();
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc{} || !std::isfinite(number))
    return std::nullopt;
  return number;
}

std::optional<quota_reading> read_quota(const json_value& object) {
  std::optional<double> rate_s, day, sent;
  for (const auto& member : object) {
    if (member.key() == "MaxSendRate")
      rate_s = number_of(member);
    else if (member.key() == "Max24HourSend")
      day = number_of(member);
    else if (member.key() == "SentLast24Hours")
      sent = number_of(member);
  }
  constexpr double most = 1e15; // beyond any quota, and exact in a double
  if (!rate_s || !day || !sent || *rate_s < 0 || *rate_s > 1e9 || *day > most || *sent > most)
    return std::nullopt;
  quota_reading quota;
  quota.max_send_rate = rate::per_second(*rate_s);
  quota.max_24h = *day < 0 ? -1 : static_cast<std::int64_t>(*day);
  quota.sent_24h = *sent < 0 ? 0 : static_cast<std::int64_t>(std::ceil(*sent));
  return quota;
}

} // namespace

std::optional<ses_account> read_account(std::string_view body) {
  const auto read = json_document::read(body);
  const auto* document = std::get_if<json_document>(&read);
  if (!document || document->root().kind() != json_kind::object)
    return std::nullopt;
  ses_account account;
  std::optional<quota_reading> quota;
  for (const auto& member : document->root()) {
    if (member.key() == "SendQuota" && member.kind() == json_kind::object)
      quota = read_quota(member);
    else if (member.key() == "SendingEnabled")
      account.sending_enabled = member.text() != "false";
    else if (member.key() == "ProductionAccessEnabled")
      account.production_access = member.text() != "false";
    else if (member.key() == "EnforcementStatus" && member.kind() == json_kind::text)
      account.enforcement = member.text();
  }
  if (!quota)
    return std::nullopt;
  account.quota = *quota;
  return account;
}

} // namespace paceline
