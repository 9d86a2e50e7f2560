#include "transport/mail/message_lists.hpp"

#include <optional>

#include <rapidjson/document.h>

namespace paceline {
namespace {

std::string_view text_of(const rapidjson::Value& value) {
  return {value.GetString(), value.GetStringLength()};
}

/// Error `invalid` where `json` is no object; `name` says what it is.
std::optional<error> parse_object(std::string_view json, std::string_view name,
                                  rapidjson::Document& into) {
  into.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag>(json.data(),
                                                                                     json.size());
  if (!into.HasParseError() && into.IsObject())
    return std::nullopt;
  return error{error_kind::invalid, std::string{name} + ": must be a JSON object"};
}

std::optional<error> read_mailboxes(const rapidjson::Value& from, const char* name,
                                    std::vector<mail_address>& into) {
  const auto fail = [name](const std::string& problem) {
    return error{error_kind::invalid, std::string{name} + ": " + problem};
  };
  const auto member = from.FindMember(name);
  if (member == from.MemberEnd())
    return std::nullopt;
  if (!member->value.IsArray())
    return fail("must be an array");
  for (const auto& one : member->value.GetArray()) {
    if (!one.IsString())
      return fail("must be an array of texts");
    auto checked = check_mailbox(text_of(one));
    if (!checked.mailbox)
      return fail(checked.problem);
    into.push_back(std::move(*checked.mailbox));
  }
  return std::nullopt;
}

} // namespace

result<visible_mailboxes> read_visible_mailboxes(std::string_view addresses) {
  rapidjson::Document document;
  if (const auto failed = parse_object(addresses, "addresses", document))
    return *failed;
  visible_mailboxes read;
  if (const auto failed = read_mailboxes(document, "to", read.to))
    return *failed;
  if (const auto failed = read_mailboxes(document, "cc", read.cc))
    return *failed;
  return read;
}

result<std::vector<std::pair<std::string, std::string>>> read_tags(std::string_view tags) {
  rapidjson::Document document;
  if (const auto failed = parse_object(tags, "tags", document))
    return *failed;
  std::vector<std::pair<std::string, std::string>> read;
  for (const auto& tag : document.GetObject()) {
    if (!tag.value.IsString())
      return error{error_kind::invalid, "tags: must be texts"};
    read.emplace_back(text_of(tag.name), text_of(tag.value));
  }
  return read;
}

} // namespace paceline
