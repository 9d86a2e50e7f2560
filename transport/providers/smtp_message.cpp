#include "transport/providers/smtp_message.hpp"

#include <algorithm>
#include <cstring>

namespace paceline {
namespace {

/// The address in `Name <local@domain>`, or all of it.
std::string_view address_in(std::string_view mailbox) {
  if (!mailbox.ends_with('>'))
    return mailbox;
  const auto open = mailbox.rfind('<');
  return open == std::string_view::npos ? mailbox
                                        : mailbox.substr(open + 1, mailbox.size() - open - 2);
}

/// Blanks, brackets, controls and octets beyond ASCII could end the command or begin another.
bool can_stand_in_a_command(std::string_view address) {
  return !address.empty() && std::none_of(address.begin(), address.end(), [](char c) {
    return c <= ' ' || c >= 127 || c == '<' || c == '>';
  });
}

bool equal_without_case(std::string_view left, std::string_view right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), [](char a, char b) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return lower(a) == lower(b);
  });
}

} // namespace

std::optional<std::vector<std::string>> envelope_of(const outgoing_message& message,
                                                    const smtp_extensions& offered) {
  const auto sender = address_in(message.sender);
  if (!can_stand_in_a_command(sender) || message.recipients.empty())
    return std::nullopt;
  std::vector<std::string> commands;
  commands.reserve(1 + message.recipients.size());
  auto mail = "MAIL FROM:<" + std::string{sender} + '>';
  if (offered.size)
    mail += " SIZE=" + std::to_string(message.raw_size());
  commands.push_back(mail + "\r\n");
  for (const auto& recipient : message.recipients) {
    if (!can_stand_in_a_command(recipient))
      return std::nullopt;
    commands.push_back("RCPT TO:<" + recipient + ">\r\n");
  }
  return commands;
}

smtp_text::smtp_text(const outgoing_message& message)
    : parts_{message.raw,
             message.raw_tail ? std::string_view{*message.raw_tail} : std::string_view{}} {}

bool smtp_text::read(std::string& to, std::size_t room) {
  if (is_over())
    return false;
  const auto limit = to.size() + room;
  while (part_ < 2 && to.size() < limit) {
    auto rest = parts_[part_].substr(at_);
    if (rest.empty()) {
      ++part_;
      at_ = 0;
      continue;
    }
    // Also after a bare line feed, which messages don't have: to a careless server a dot there
    // could end the message, and what follows would be commands.
    if (last_ == '\n' && rest.front() == '.')
      to += '.';
    // To the end of the line, or as far as there is room.
    const auto feed = rest.find('\n');
    const auto count = std::min(feed == std::string_view::npos ? rest.size() : feed + 1,
                                std::max<std::size_t>(1, limit - std::min(limit, to.size())));
    to += rest.substr(0, count);
    at_ += count;
    const char before = count > 1 ? rest[count - 2] : last_;
    last_ = rest[count - 1];
    ends_line_ = last_ == '\n' && before == '\r';
  }
  if (part_ == 2) {
    to += ends_line_ ? ".\r\n" : "\r\n.\r\n";
    part_ = 3;
  }
  return true;
}

std::string message_id_of(std::string_view raw) {
  constexpr std::string_view name = "Message-ID:";
  for (std::size_t at = 0; at < raw.size();) {
    auto end = raw.find("\r\n", at);
    const auto line = raw.substr(at, end == std::string_view::npos ? end : end - at);
    if (line.empty())
      break; // the body
    if (equal_without_case(line.substr(0, name.size()), name)) {
      auto value = line.substr(name.size());
      value.remove_prefix(std::min(value.size(), value.find_first_not_of(' ')));
      return std::string{value};
    }
    if (end == std::string_view::npos)
      break;
    at = end + 2;
  }
  return {};
}

} // namespace paceline
