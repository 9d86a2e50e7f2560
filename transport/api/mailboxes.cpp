#include "transport/api/mailboxes.hpp"

#include <algorithm>

#include "config/text.hpp"
#include "storage/suppressions.hpp"
#include "transport/mail/address.hpp"

namespace paceline {
namespace {

constexpr std::size_t max_reply_to = 10;

std::string_view without_blanks(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Calls `take(value, place)` for a text, or for each element of an array of texts.
template <class F>
void each_text(object_fields& from, std::string_view name, F&& take) {
  const auto value = from.find(name);
  if (!value)
    return;
  const json_place place{from.place(), name};
  if (value->kind() == json_kind::text)
    return take(value->text(), place);
  if (value->kind() != json_kind::array)
    return from.add(name, "must be a text or an array of texts, not "
                              + std::string{paceline::name(value->kind())});
  std::size_t index = 0;
  for (const auto element : *value) {
    const json_place at{place, index++};
    if (element.kind() == json_kind::text)
      take(element.text(), at);
    else
      from.problems().add(at, "must be a text, not " + std::string{paceline::name(element.kind())});
    if (from.problems().is_full())
      return;
  }
}

class envelope_reader {
public:
  envelope_reader(object_fields& from, envelope& into) : from_(from), into_(into) {}

  void read() {
    read_list("to");
    if (into_.recipients.empty())
      need_recipient();
    read_list("cc");
    read_list("bcc");
    if (count_ > envelope::most)
      from_.add("to", "there are " + std::to_string(count_)
                          + " recipients in to, cc and bcc: at most 50 are allowed in a message");
    if (is_special_)
      into_.addresses = json_ + "}";
  }

private:
  void need_recipient() {
    if (!from_.has("to"))
      from_.add("to", "is missing: at least one recipient is needed");
    else if (const auto to = from_.find("to"); to->kind() == json_kind::array && to->size() == 0)
      from_.add("to", "must not be empty: at least one recipient is needed");
  }

  void read_list(std::string_view name) {
    bool is_first = true;
    each_text(from_, name, [&](std::string_view text, const json_place& place) {
      take(text, place);
      if (is_first && !json_.empty())
        json_ += (json_.size() > 1 ? ",\"" : "\"") + std::string{name} + "\":[";
      if (!is_first && !json_.empty())
        json_ += ',';
      if (!json_.empty())
        json_ += json_string(without_blanks(text));
      is_first = false;
    });
    if (!is_first && !json_.empty())
      json_ += ']';
  }

  void take(std::string_view text, const json_place& place) {
    const auto read = read_mailbox(text);
    if (!read.problem.empty())
      return from_.problems().add(place, read.problem);
    is_special_ = is_special_ || read.has_name;
    if (++count_ > envelope::most)
      return;
    auto address = normalized_address(read.address);
    auto& known = into_.recipients;
    if (std::find(known.begin(), known.end(), address) != known.end())
      return from_.problems().add(place, "is a recipient already: each may be there once");
    known.push_back(std::move(address));
  }

  object_fields& from_;
  envelope& into_;
  std::size_t count_ = 0;
  /// Of a plain `to`, which most messages have, no JSON is made.
  bool is_special_ = from_.has("cc") || from_.has("bcc");
  std::string json_ = is_special_ || needs_names() ? "{" : "";

  bool needs_names() const {
    bool found = false;
    const auto to = from_.peek("to");
    if (!to)
      return false;
    if (to->kind() == json_kind::text)
      return to->text().find('<') != std::string_view::npos;
    if (to->kind() == json_kind::array)
      for (const auto element : *to)
        found = found || element.text().find('<') != std::string_view::npos;
    return found;
  }
};

} // namespace

mailbox_reading read_mailbox(std::string_view text) {
  if (text.find('<') == std::string_view::npos) {
    auto checked = check_address(text);
    return {std::move(checked.address).value_or(""), false, std::move(checked.problem)};
  }
  auto checked = check_mailbox(text);
  if (!checked.mailbox)
    return {{}, false, std::move(checked.problem)};
  return {std::move(checked.mailbox->address), true, {}};
}

std::string domain_of(std::string_view address) {
  return normalized_address(address.substr(address.find('@') + 1));
}

bool is_sender_domain(std::string_view domain, const std::vector<std::string>& allowed) {
  return allowed.empty()
         || std::any_of(allowed.begin(), allowed.end(), [domain](const std::string& one) {
              const auto suffix = normalized_address(one);
              return domain == suffix
                     || (domain.size() > suffix.size() && domain.ends_with(suffix)
                         && domain[domain.size() - suffix.size() - 1] == '.');
            });
}

void read_envelope(object_fields& from, envelope& into) {
  envelope_reader{from, into}.read();
}

std::optional<std::string> read_mailbox_list(object_fields& from, std::string_view name) {
  std::string list;
  std::size_t count = 0;
  each_text(from, name, [&](std::string_view text, const json_place& place) {
    const auto read = read_mailbox(text);
    if (!read.problem.empty())
      return from.problems().add(place, read.problem);
    if (++count <= max_reply_to)
      list += (list.empty() ? "" : ", ") + std::string{without_blanks(text)};
  });
  if (count > max_reply_to)
    from.add(name, "at most 10 addresses are allowed");
  if (list.empty())
    return std::nullopt;
  return list;
}

} // namespace paceline
