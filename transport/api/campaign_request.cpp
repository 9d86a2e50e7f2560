#include "transport/api/campaign_request.hpp"

#include <algorithm>
#include <array>

#include "storage/suppressions.hpp"
#include "transport/api/shared_fields.hpp"
#include "transport/mail/address.hpp"

namespace paceline {
namespace {

constexpr std::size_t max_name = 200, max_page = 5000;
constexpr std::array<std::string_view, 4> reasons{"operator", "bounce", "complaint", "unsubscribe"};

/// Calls `take(element, place)` for each element of an array of `least` to 5,000.
template <class F>
void each_element(object_fields& from, std::string_view name, std::size_t least, F&& take) {
  const auto list = from.find(name);
  if (!list)
    return;
  if (list->kind() != json_kind::array)
    return from.add(name, "must be an array, not " + std::string{paceline::name(list->kind())});
  if (list->size() < least || list->size() > max_page)
    return from.add(name, "has " + std::to_string(list->size())
                              + " elements: " + std::to_string(least) + " to 5,000 are allowed");
  const json_place place{from.place(), name};
  std::size_t index = 0;
  for (const auto element : *list) {
    const json_place at{place, index++};
    take(element, at);
    if (from.problems().is_full())
      return;
  }
}

std::string read_address(std::string_view text, const json_place& place, problem_list& problems) {
  auto checked = check_address(text);
  if (!checked.address) {
    problems.add(place, std::move(checked.problem));
    return {};
  }
  return normalized_address(*checked.address);
}

void read_members(object_fields& from, std::size_t least, const content_reading* content,
                  std::vector<audience_member>& into) {
  each_element(from, "recipients", least, [&](const json_value& element, const json_place& at) {
    object_fields member{element, at, from.problems()};
    audience_member made;
    made.fields = "{}";
    member.need("to", "the recipient's address");
    if (const auto to = member.text("to", {.most = 320, .least = 1}))
      made.recipient = read_address(*to, json_place{at, "to"}, from.problems());
    if (const auto fields = read_fields_object(member)) {
      made.fields = std::string{fields->text()};
      if (fields->has_line_breaks() && content != nullptr)
        if (auto problem = content->header_problem(made.fields))
          member.add("fields", std::move(*problem));
    }
    member.finish();
    into.push_back(std::move(made));
  });
}

} // namespace

campaign_request read_campaign(json_value body, problem_list& problems) {
  const json_place root;
  object_fields from{body, root, problems};
  campaign_request made;
  from.need("name", "what people call the campaign");
  made.name = std::string{from.text("name", {.most = max_name, .least = 1}).value_or("")};
  made.content = content_reading::read(from);
  const bool is_good = problems.is_empty();
  made.priority = static_cast<std::int16_t>(from.integer("priority", 0, 100).value_or(50));
  made.weight = static_cast<std::int32_t>(from.integer("weight", 1, 1000).value_or(100));
  if (const auto cap =
          from.number("rate_cap", 0.001, 1e6, "from 0.001 to 1000000 (recipients per second)"))
    made.rate_cap = rate::per_second(*cap);
  made.region = read_region(from);
  read_members(from, 0, is_good ? &made.content : nullptr, made.recipients);
  from.finish();
  return made;
}

std::vector<audience_member> read_recipients(json_value body, problem_list& problems) {
  const json_place root;
  object_fields from{body, root, problems};
  std::vector<audience_member> made;
  from.need("recipients", "an array of 1 to 5,000 objects {\"to\", \"fields\"}");
  read_members(from, 1, nullptr, made);
  from.finish();
  return made;
}

suppression_request read_suppressions(json_value body, problem_list& problems) {
  const json_place root;
  object_fields from{body, root, problems};
  suppression_request made;
  if (from.has("address") == from.has("addresses"))
    from.add("addresses", "give either address (a text) or addresses (an array of up to 5,000)");
  if (const auto one = from.text("address", {.most = 320, .least = 1}))
    made.addresses.push_back(read_address(*one, json_place{root, "address"}, problems));
  each_element(from, "addresses", 1, [&](const json_value& element, const json_place& at) {
    if (element.kind() == json_kind::text)
      made.addresses.push_back(read_address(element.text(), at, problems));
    else
      problems.add(at, "must be a text, not " + std::string{name(element.kind())});
  });
  if (const auto reason = from.text("reason", {.most = 20})) {
    if (std::find(reasons.begin(), reasons.end(), *reason) == reasons.end())
      from.add("reason", "must be operator, bounce, complaint or unsubscribe");
    made.reason = std::string{*reason};
  }
  from.finish();
  return made;
}

} // namespace paceline
