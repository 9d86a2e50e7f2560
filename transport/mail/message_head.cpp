#include "transport/mail/message_head.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>

#include "transport/mail/header_field.hpp"
#include "transport/mail/header_rules.hpp"

namespace paceline {
namespace {

constexpr std::array<const char*, 7> days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::array<const char*, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                             "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

void append_number(std::string& to, std::int64_t number) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  to.append(digits, end);
}

/// Recipients come from the database, where every address is ASCII; a message that isn't in 7 bits
/// would be altered on its way.
void check_recipient(std::string_view address) {
  if (!std::all_of(address.begin(), address.end(), [](char c) { return c > ' ' && c < 0x7f; }))
    throw rendering_failure{"an address with a character outside ASCII, a blank or a control "
                            "character"};
}

void append_recipients(std::string& to, const std::vector<std::string>& recipients) {
  header_field field{to, "To"};
  for (std::size_t i = 0; i < recipients.size(); ++i) {
    check_recipient(recipients[i]);
    field.address(recipients[i], i + 1 < recipients.size());
  }
  field.finish();
}

void append_value(std::string& to, const header_template& header, std::string_view value) {
  if (value.find_first_not_of(" \t") == std::string_view::npos)
    return;
  if (!header.is_mailboxes)
    return append_text_field(to, header.name, value);
  const auto list = check_mailbox_list(value);
  if (!list.problem.empty())
    throw rendering_failure{list.problem};
  append_mailbox_field(to, header.name, list.mailboxes);
}

} // namespace

std::string mail_date(std::int64_t unix_seconds) {
  namespace chrono = std::chrono;
  const chrono::sys_seconds instant{chrono::seconds{unix_seconds}};
  const auto day = chrono::floor<chrono::days>(instant);
  const chrono::year_month_day date{day};
  const chrono::hh_mm_ss time{instant - day};
  char text[64];
  const auto size = std::snprintf(
      text, sizeof text, "%s, %02u %s %04d %02d:%02d:%02d +0000",
      days[chrono::weekday{day}.c_encoding()], static_cast<unsigned>(date.day()),
      months[static_cast<unsigned>(date.month()) - 1], static_cast<int>(date.year()),
      static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
      static_cast<int>(time.seconds().count()));
  return {text, static_cast<std::size_t>(size)};
}

std::string unsubscribe_value(const composed_for& what) {
  const auto link = what.links->link({what.row.project, std::string{what.environment},
                                      what.row.stream, what.row.recipients.front()});
  constexpr std::size_t frame = std::string_view{"List-Unsubscribe: <>"}.size();
  if (link.size() + frame > max_header_octets)
    throw rendering_failure{"the link is too long for a header: unsubscribe.base_url must be "
                            "shorter"};
  return '<' + link + '>';
}

message_head::message_head(const content_templates& templates, const mail_address& sender)
    : templates_(templates), domain_(sender.address.substr(sender.address.find('@') + 1)) {
  append_mailbox_field(from_, "From", {sender});
  const kainjow::mustache::data no_fields;
  const auto fields = templates.with(no_fields);
  if (templates.subject().is_constant())
    append_text_field(subject_, "Subject", templates.subject_for(fields));
  for (const auto& header : templates.headers()) {
    own_.emplace_back();
    if (header.value.is_constant())
      append_value(own_.back(), header, content_templates::value_for(header, fields));
  }
}

void message_head::write_own(const header_template& header, const field_values& fields,
                             std::string& to) const {
  append_value(to, header, content_templates::value_for(header, fields));
}

void message_head::write(const composed_for& what, const visible_mailboxes& visible,
                         const field_values& fields, std::string& to, std::string& part) const {
  to += from_;
  part = "to";
  if (!visible.to.empty())
    append_mailbox_field(to, "To", visible.to);
  else if (what.row.addresses) // copies only, perhaps blind ones
    to += "To: undisclosed-recipients:;\r\n";
  else
    append_recipients(to, what.row.recipients);
  if (!visible.cc.empty())
    append_mailbox_field(to, "Cc", visible.cc);
  part = "subject";
  if (templates_.subject().is_constant())
    to += subject_;
  else
    append_text_field(to, "Subject", templates_.subject_for(fields));
  for (std::size_t i = 0; i < own_.size(); ++i) {
    const auto& header = templates_.headers()[i];
    if (header.value.is_constant()) {
      to += own_[i];
      continue;
    }
    (part = "headers.") += header.name;
    write_own(header, fields, to);
  }
  ((to += "Date: ") += mail_date(what.unix_seconds)) += "\r\nMessage-ID: <";
  append_number(to, what.row.of.message.value());
  to += '.';
  append_number(to, what.row.of.version);
  ((to += '@') += domain_) += ">\r\n";
  if (!what.links)
    return;
  part = "List-Unsubscribe";
  ((to += "List-Unsubscribe: ") += unsubscribe_value(what)) += "\r\n";
  ((to += "List-Unsubscribe-Post: ") += one_click) += "\r\n";
}

std::size_t message_head::memory() const {
  auto octets = sizeof *this + from_.capacity() + subject_.capacity() + domain_.capacity();
  for (const auto& header : own_)
    octets += sizeof header + header.capacity();
  return octets;
}

} // namespace paceline
