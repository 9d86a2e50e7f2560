#include "transport/providers/ses_request.hpp"

#include <algorithm>
#include <array>

#include <openssl/evp.h>

#include "config/text.hpp"

namespace paceline {
namespace {

constexpr std::size_t max_tags = 50;

bool is_tag_text(std::string_view text) {
  return !text.empty() && text.size() <= 256 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'
           || c == '-';
  });
}

std::string_view bare_address(std::string_view mailbox) {
  const auto open = mailbox.rfind('<');
  if (open == std::string_view::npos)
    return mailbox;
  return mailbox.substr(open + 1, mailbox.find('>', open) - open - 1);
}

void append_base64(std::string& to, std::string_view octets) {
  if (octets.empty())
    return;
  const auto start = to.size();
  const auto size = 4 * ((octets.size() + 2) / 3);
  to.resize(start + size + 1); // EVP_EncodeBlock ends its text with NUL
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(to.data() + start),
                  reinterpret_cast<const unsigned char*>(octets.data()),
                  static_cast<int>(octets.size()));
  to.resize(start + size);
}

/// Base64 works on three octets at a time: what is left of `head` goes with the first of `tail`.
void append_base64(std::string& to, std::string_view head, std::string_view tail) {
  const auto left = head.size() % 3;
  if (left == 0 || tail.empty()) {
    append_base64(to, head);
    append_base64(to, tail);
    return;
  }
  const auto borrowed = std::min<std::size_t>(3 - left, tail.size());
  append_base64(to, head.substr(0, head.size() - left));
  std::array<char, 3> bridge{};
  const auto behind =
      std::copy_n(head.end() - static_cast<std::ptrdiff_t>(left), left, bridge.begin());
  std::copy_n(tail.begin(), borrowed, behind);
  append_base64(to, {bridge.data(), left + borrowed});
  append_base64(to, tail.substr(borrowed));
}

void append_tag(std::string& to, std::string_view name, std::string_view value) {
  (((to += R"({"Name":")") += name) += R"(","Value":")") += value;
  to += R"("})";
}

void append_tags(std::string& to, const outgoing_message& message) {
  to += R"("EmailTags":[)";
  append_tag(to, "paceline-message", std::to_string(message.of.message.value()));
  to += ',';
  append_tag(to, "paceline-version", std::to_string(message.of.version));
  std::size_t count = 2;
  for (const auto& [name, value] : message.tags) {
    if (count == max_tags)
      break;
    if (!is_tag_text(name) || !is_tag_text(value) || name.starts_with("paceline-"))
      continue;
    to += ',';
    append_tag(to, name, value);
    ++count;
  }
  to += ']';
}

} // namespace

std::string send_email_body(const outgoing_message& message, std::string_view configuration_set) {
  std::string body;
  body.reserve(1024 + 64 * message.recipients.size() + 4 * (message.raw_size() + 3) / 3);
  (body += R"({"FromEmailAddress":)") += json_string(bare_address(message.sender));
  body += R"(,"Destination":{"ToAddresses":[)";
  const char* separator = "";
  for (const auto& recipient : message.recipients) {
    (body += separator) += json_string(recipient);
    separator = ",";
  }
  body += R"(]},"Content":{"Raw":{"Data":")";
  append_base64(body, message.raw,
                message.raw_tail ? std::string_view{*message.raw_tail} : std::string_view{});
  body += R"("}},)";
  append_tags(body, message);
  if (!configuration_set.empty())
    (body += R"(,"ConfigurationSetName":)") += json_string(configuration_set);
  return body += '}';
}

} // namespace paceline
