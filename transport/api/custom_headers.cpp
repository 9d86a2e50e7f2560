#include "transport/api/custom_headers.hpp"

#include <algorithm>
#include <vector>

#include "config/text.hpp"
#include "transport/api/mailboxes.hpp"
#include "transport/http/ascii.hpp"
#include "transport/mail/header_rules.hpp"

namespace paceline {
namespace {

constexpr std::size_t max_headers = 50;

} // namespace

std::string read_headers(object_fields& from) {
  std::string json = "{";
  const auto add = [&json](std::string_view name, std::string_view value) {
    json += (json.size() > 1 ? "," : "") + json_string(name) + ":" + json_string(value);
  };
  if (const auto reply_to = read_mailbox_list(from, "reply_to"))
    add("Reply-To", *reply_to);
  const auto headers = from.find("headers");
  if (!headers)
    return json + "}";
  const json_place place{from.place(), "headers"};
  auto& problems = from.problems();
  if (headers->kind() != json_kind::object)
    problems.add(place,
                 "must be an object of names and texts, not " + std::string{name(headers->kind())});
  else if (headers->size() > max_headers)
    problems.add(place,
                 "has " + std::to_string(headers->size()) + " headers: at most 50 are allowed");
  else {
    std::vector<std::string> seen;
    for (const auto header : *headers) {
      const json_place at{place, header.key()};
      const auto plain = ascii_lower(header.key());
      if (auto problem = header_name_problem(header.key()))
        problems.add(at, std::move(*problem));
      else if (std::find(seen.begin(), seen.end(), plain) != seen.end())
        problems.add(at, "is there twice: names of headers are the same in upper and lower case");
      else if (header.kind() != json_kind::text)
        problems.add(at, "must be a text, not " + std::string{name(header.kind())});
      else if (auto wrong = header_value_problem(header.text()))
        problems.add(at, std::move(*wrong));
      else
        add(header.key(), header.text());
      seen.push_back(plain);
    }
  }
  return json + "}";
}

} // namespace paceline
