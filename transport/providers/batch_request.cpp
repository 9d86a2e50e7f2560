#include "transport/providers/batch_request.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "config/text.hpp"
#include "transport/http/ascii.hpp"

namespace paceline {
namespace {

constexpr std::size_t frame_size = 512; ///< octets of an item's keys and brackets
/// A tag's value may hold letters, digits, `_` and `-`.
constexpr std::string_view message_tag = "paceline_message";

std::string_view address_in(std::string_view mailbox) {
  const auto open = mailbox.rfind('<');
  if (!mailbox.ends_with('>') || open == std::string_view::npos)
    return mailbox;
  return mailbox.substr(open + 1, mailbox.size() - open - 2);
}

/// Who is named where.
struct visible_recipients {
  std::vector<std::string_view> to, cc, bcc;
};

/// The recipients that are left, as the sender meant them to be seen.
visible_recipients sort_recipients(const outgoing_message& message) {
  visible_recipients sorted;
  std::vector<bool> seen(message.recipients.size());
  const auto take = [&message, &seen](const std::vector<std::string>& from,
                                      std::vector<std::string_view>& into) {
    for (const auto& mailbox : from)
      for (std::size_t i = 0; i < seen.size(); ++i)
        if (!seen[i] && is_same_ascii(message.recipients[i], address_in(mailbox))) {
          seen[i] = true;
          into.emplace_back(mailbox);
        }
  };
  take(message.to, sorted.to);
  take(message.cc, sorted.cc);
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (!seen[i])
      sorted.bcc.emplace_back(message.recipients[i]);
  if (sorted.to.empty() && !sorted.cc.empty()) {
    sorted.to.push_back(sorted.cc.front());
    sorted.cc.erase(sorted.cc.begin());
  }
  if (sorted.to.empty() && sorted.bcc.size() == 1)
    sorted.to.swap(sorted.bcc);
  return sorted;
}

void append_list(std::string& to, std::string_view key,
                 const std::vector<std::string_view>& mailboxes) {
  if (mailboxes.empty())
    return;
  to += ',' + json_string(key) + ":[";
  for (std::size_t i = 0; i < mailboxes.size(); ++i)
    to += (i > 0 ? "," : "") + json_string(mailboxes[i]);
  to += ']';
}

void append_text(std::string& to, std::string_view key, std::string_view text) {
  if (!text.empty())
    to += ',' + json_string(key) + ':' + json_string(text);
}

/// Reply-To has a member of its own; blind copies are no header.
void append_headers(std::string& to, const outgoing_message& message) {
  std::string members;
  for (const auto& [name, value] : message.headers) {
    if (is_same_ascii(name, "Reply-To"))
      append_text(to, "reply_to", value);
    else if (!is_same_ascii(name, "Bcc"))
      members += (members.empty() ? "" : ",") + json_string(name) + ':' + json_string(value);
  }
  if (!members.empty())
    to += ",\"headers\":{" + members + '}';
}

void append_tags(std::string& to, const outgoing_message& message) {
  const auto append = [&to](std::string_view name, std::string_view value) {
    to += "{\"name\":" + json_string(name) + ",\"value\":" + json_string(value) + '}';
  };
  to += ",\"tags\":[";
  append(message_tag,
         std::to_string(message.of.message.value()) + '-' + std::to_string(message.of.version));
  for (const auto& [name, value] : message.tags) {
    to += ',';
    append(name, value);
  }
  to += ']';
}

/// Straight into the request: attachments are most of it where there are any.
void append_base64(std::string& to, std::string_view octets) {
  const auto at = to.size();
  to.resize(at + (octets.size() + 2) / 3 * 4 + 1); // the encoder ends with a NUL
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(to.data() + at),
                  reinterpret_cast<const unsigned char*>(octets.data()),
                  static_cast<int>(octets.size())); // 40 MiB at most
  to.pop_back();
}

void append_attachments(std::string& to, const outgoing_message& message) {
  if (!message.attachments || message.attachments->empty())
    return;
  to += ",\"attachments\":[";
  bool is_first = true;
  for (const auto& each : *message.attachments) {
    to += is_first ? "{" : ",{";
    is_first = false;
    to += "\"filename\":" + json_string(each.name);
    append_text(to, "content_type", each.media_type);
    append_text(to, "content_id", each.content_id);
    to += ",\"content\":\"";
    append_base64(to, each.data);
    to += "\"}";
  }
  to += ']';
}

} // namespace

bool append_batch_item(std::string& to, const outgoing_message& message) {
  const auto recipients = sort_recipients(message);
  if (recipients.to.empty())
    return false;
  to += "{\"from\":" + json_string(message.sender);
  append_list(to, "to", recipients.to);
  append_list(to, "cc", recipients.cc);
  append_list(to, "bcc", recipients.bcc);
  to += ",\"subject\":" + json_string(message.subject);
  append_text(to, "text", message.text_body);
  append_text(to, "html", message.html_body);
  append_headers(to, message);
  append_tags(to, message);
  append_attachments(to, message);
  to += '}';
  return true;
}

std::size_t batch_item_size(const outgoing_message& message) {
  auto size = frame_size + message.text_body.size() + message.html_body.size();
  if (message.attachments)
    for (const auto& each : *message.attachments)
      size += frame_size + each.data.size() / 3 * 4;
  return size;
}

std::string batch_idempotency_key(std::span<const attempt> attempts) {
  std::vector<attempt> sorted{attempts.begin(), attempts.end()};
  std::sort(sorted.begin(), sorted.end());
  std::string text;
  for (const auto& each : sorted)
    text += std::to_string(each.message.value()) + ':' + std::to_string(each.version) + '\n';
  std::array<unsigned char, 32> hash{};
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), hash.data(), &size, EVP_sha256(), nullptr);
  std::string key = "paceline-";
  for (const auto octet : hash) {
    constexpr std::string_view digits = "0123456789abcdef";
    key += digits[octet >> 4];
    key += digits[octet & 15];
  }
  return key;
}

} // namespace paceline
