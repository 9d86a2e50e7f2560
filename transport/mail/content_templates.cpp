#include "transport/mail/content_templates.hpp"

#include <algorithm>
#include <optional>

#include <rapidjson/document.h>

#include "config/text.hpp"
#include "transport/http/ascii.hpp"
#include "transport/mail/header_rules.hpp"

namespace paceline {
namespace {

error invalid(std::string_view part, const std::string& problem) {
  return error{error_kind::invalid, std::string{part} + ": " + problem};
}

std::string_view text_of(const rapidjson::Value& value) {
  return {value.GetString(), value.GetStringLength()};
}

result<header_template> compile_header(std::string_view name, const rapidjson::Value& value) {
  const auto part = "headers." + printable(name, 100);
  header_template made{std::string{name}, {}, is_same_ascii(name, "reply-to")};
  if (auto problem = header_name_problem(name); problem && !made.is_mailboxes)
    return invalid(part, *problem);
  if (!value.IsString())
    return invalid(part, "must be a text");
  if (auto problem = header_value_problem(text_of(value)))
    return invalid(part, *problem);
  auto compiled = template_part::compile(part, std::string{text_of(value)}, {});
  if (!compiled)
    return compiled.failure();
  made.value = std::move(*compiled);
  if (made.is_mailboxes && made.value.is_constant())
    if (auto list = check_mailbox_list(text_of(value)); !list.problem.empty())
      return invalid(part, list.problem);
  return made;
}

result<std::vector<header_template>> compile_headers(const std::string& json) {
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag>(
      json.data(), json.size());
  if (document.HasParseError() || !document.IsObject())
    return invalid("headers", "must be a JSON object");
  if (document.MemberCount() > content_templates::max_headers)
    return invalid("headers", "more than 50");
  std::vector<header_template> all;
  for (const auto& member : document.GetObject()) {
    const auto name = text_of(member.name);
    if (std::any_of(all.begin(), all.end(),
                    [name](const auto& other) { return is_same_ascii(other.name, name); }))
      return invalid("headers." + printable(name, 100), "is there twice");
    auto header = compile_header(name, member.value);
    if (!header)
      return header.failure();
    all.push_back(std::move(*header));
  }
  return all;
}

/// The one check of what ends in a header.
std::string checked(std::string value) {
  if (auto problem = header_value_problem(value))
    throw rendering_failure{"a field brought something into it that a header can't have: it "
                            + *problem};
  return value;
}

} // namespace

result<content_templates> content_templates::compile(const content& what, bool encodes_bodies) {
  if (auto problem = header_value_problem(what.subject))
    return invalid("subject", *problem);
  content_templates made;
  std::optional<error> failed;
  const auto add = [&failed](template_part& into, std::string_view name, const std::string& text,
                             part_rules rules) {
    if (failed)
      return;
    if (auto part = template_part::compile(name, text, rules); part)
      into = std::move(*part);
    else
      failed = part.failure();
  };
  add(made.subject_, "subject", what.subject, {});
  add(made.text_body_, "text", what.text_body, {.encodes = encodes_bodies});
  add(made.html_body_, "html", what.html_body, {.escapes = true, .encodes = encodes_bodies});
  if (failed)
    return *failed;
  auto headers = compile_headers(what.headers);
  if (!headers)
    return headers.failure();
  made.headers_ = std::move(*headers);
  auto defaults = read_fields(what.defaults);
  if (!defaults)
    return invalid("defaults", defaults.failure().text);
  made.defaults_ = std::move(*defaults);
  made.missing_ = what.missing;
  return made;
}

std::string content_templates::subject_for(const field_values& fields) const {
  std::string text;
  subject_.render(fields, text);
  return checked(std::move(text));
}

std::string content_templates::value_for(const header_template& header,
                                         const field_values& fields) {
  std::string text;
  header.value.render(fields, text);
  return checked(std::move(text));
}

std::size_t content_templates::memory() const {
  auto octets = sizeof *this + subject_.memory() + text_body_.memory() + html_body_.memory();
  for (const auto& header : headers_)
    octets += header.name.size() + header.value.memory();
  return octets;
}

} // namespace paceline
