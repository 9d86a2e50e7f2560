// One libFuzzer target per body that the API reads; BODY says which (see test/fuzz/run).
//
// Whatever comes in: nothing crashes, every refusal names a place and says why, and nothing that
// ends in a header has a line break or NUL in it.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "config/text.hpp"
#include "transport/api/campaign_request.hpp"
#include "transport/api/message_request.hpp"
#include "transport/api/preview_request.hpp"
#include "transport/api/template_fields.hpp"

namespace paceline {
namespace {

constexpr unix_us now = 1'780'315'200'000'000; // 2026-06-01T12:00:00Z

void must(bool holds, const char* what) {
  if (holds)
    return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

bool is_header_safe(std::string_view text) {
  return text.find_first_of(std::string_view{"\r\n\0", 3}) == std::string_view::npos;
}

/// JSON that we have made: whatever its texts decode to is in a header.
void check_header_json(std::string_view json) {
  const auto read = json_document::read(json);
  const auto* const document = std::get_if<json_document>(&read);
  must(document != nullptr, "headers, tags and addresses are JSON");
  must(!document->root().has_line_breaks(), "no line break in headers, tags and addresses");
  for (const auto member : document->root())
    must(is_header_safe(member.key()), "no line break in a name");
}

void check_content(const content_reading& made) {
  must(is_header_safe(made.what.sender), "no line break in a sender");
  must(is_header_safe(made.what.subject), "no line break in a subject");
  must(!made.what.sender.empty() && !made.what.subject.empty(), "sender and subject are there");
  must(!made.what.text_body.empty() || !made.what.html_body.empty(), "there is a body");
  must(!made.sender_domain.empty() && is_header_safe(made.sender_domain), "a sender has a domain");
  check_header_json(made.what.headers);
  must(made.what.attachments.size() <= 50, "at most 50 attachments");
  for (const auto& one : made.what.attachments) {
    must(is_header_safe(one.name) && !one.name.empty(), "an attachment has a name");
    must(is_header_safe(one.media_type) && one.media_type.find('/') != std::string::npos,
         "and a media type");
    must(is_header_safe(one.content_id), "no line break in a content id");
  }
  must(made.what.missing == missing_field::fallback || made.what.defaults == "{}",
       "defaults are used where they are");
}

/// What a message's fields make of its subject and headers.
void check_headers(const content_reading& of, std::string_view fields) {
  content only_headers;
  only_headers.subject = of.what.subject;
  only_headers.headers = of.what.headers;
  const auto compiled = mail_template::compile(only_headers);
  must(static_cast<bool>(compiled), "accepted headers compile");
  if (const auto mail = compiled->render(fields)) {
    must(is_header_safe(mail->subject), "no line break in a rendered subject");
    for (const auto& [name, value] : mail->headers)
      must(is_header_safe(name) && is_header_safe(value), "no line break in a rendered header");
  } else {
    must(mail.failure().text.find("line break") == std::string::npos,
         "fields that break a header are refused");
  }
  const auto found = find_template_fields(of.what, fields);
  must(found.missing.size() <= found.used.size(), "only what is used can be missing");
}

void check(const message_request& made) {
  must(!made.messages.empty() && made.messages.size() <= 5000, "1 to 5,000 messages");
  must(made.priority >= 0 && made.priority <= 100, "priority is in its range");
  for (const auto& content : made.contents)
    check_content(content);
  for (const auto& message : made.messages) {
    must(!message.recipients.empty() && message.recipients.size() <= 50, "1 to 50 recipients");
    for (const auto& recipient : message.recipients)
      must(is_header_safe(recipient), "no line break in a recipient");
    must(message.fields.size() <= 65536, "fields are small");
    if (message.tags)
      check_header_json(*message.tags);
    if (message.addresses)
      check_header_json(*message.addresses);
    must(!message.send_at || (*message.send_at >= now - 3'600'000'000), "send_at is in its range");
    must(!message.expires_at || *message.expires_at > now, "expires_at is in its range");
    check_headers(made.contents.at(message.content), message.fields);
  }
}

void check(const preview_request& made) {
  check_content(made.content);
  must(!made.message.recipients.empty() && made.message.recipients.size() <= 50,
       "1 to 50 recipients");
  check_headers(made.content, made.message.fields);
}

void check(const campaign_request& made) {
  must(is_header_safe(made.name), "no line break in a name");
  check_content(made.content);
  for (const auto& member : made.recipients) {
    must(is_header_safe(member.recipient) && !member.recipient.empty(),
         "a recipient is an address");
    check_headers(made.content, member.fields);
  }
}

void check(const std::vector<audience_member>& made) {
  must(!made.empty() && made.size() <= 5000, "1 to 5,000 recipients");
  for (const auto& member : made)
    must(is_header_safe(member.recipient) && !member.recipient.empty(),
         "a recipient is an address");
}

void check(const suppression_request& made) {
  must(!made.addresses.empty() && made.addresses.size() <= 5000, "1 to 5,000 addresses");
  for (const auto& address : made.addresses)
    must(is_header_safe(address) && !address.empty(), "an address is an address");
}

void check_refusal(const field_problem& one) {
  must(!one.detail.empty(), "a refusal says why");
  must(one.pointer.empty() || one.pointer.front() == '/', "a refusal has a pointer");
  must(!first_invalid_utf8(one.pointer) && !first_invalid_utf8(one.detail), "and it is UTF-8");
}

auto read(json_value body, problem_list& problems) {
#if defined(BODY_send)
  return read_send(body, now, problems);
#elif defined(BODY_batch)
  return read_batch(body, now, problems);
#elif defined(BODY_preview)
  return read_preview(body, problems);
#elif defined(BODY_campaign)
  return read_campaign(body, problems);
#elif defined(BODY_recipients)
  return read_recipients(body, problems);
#else
  return read_suppressions(body, problems);
#endif
}

} // namespace
} // namespace paceline

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace paceline;
  const std::string body{reinterpret_cast<const char*>(data), size};
  const auto document = json_document::read(body, message_request::opaque_key);
  if (const auto* refused = std::get_if<field_problem>(&document)) {
    check_refusal(*refused);
    return 0;
  }
  problem_list problems;
  const auto made = read(std::get<json_document>(document).root(), problems);
  must(problems.size() <= problem_list::most, "at most 50 problems");
  for (const auto& one : problems.entries())
    check_refusal(one);
  if (problems.is_empty())
    check(made);
  return 0;
}
