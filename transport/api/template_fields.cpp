#include "transport/api/template_fields.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <variant>

#include "transport/api/json_document.hpp"
#include "transport/mail/template_text.hpp"

namespace paceline {
namespace {

bool is_something(const json_value& value) {
  switch (value.kind()) {
  case json_kind::null:
    return false;
  case json_kind::boolean:
    return value.text() == "true";
  case json_kind::text:
    return !value.text().empty();
  case json_kind::array:
    return value.size() > 0;
  case json_kind::number:
  case json_kind::object:
    return true;
  }
  return true;
}

std::optional<json_value> member_of(const json_value& object, std::string_view key) {
  if (object.kind() == json_kind::object)
    for (const auto member : object)
      if (member.key() == key)
        return member;
  return std::nullopt;
}

/// One object of fields, and all names that stand anywhere in it.
class field_names {
public:
  explicit field_names(std::string_view json) : read_(json_document::read(json)) {
    if (const auto* document = std::get_if<json_document>(&read_))
      collect(document->root());
  }

  /// By its whole path; within a section, where names may be those of the list's items, by its
  /// first part anywhere.
  bool has(std::string_view path, bool is_within) const {
    const auto* document = std::get_if<json_document>(&read_);
    if (document == nullptr)
      return false;
    if (is_within && names_.contains(path.substr(0, path.find('.'))))
      return true;
    auto at = std::optional{document->root()};
    while (at && !path.empty()) {
      const auto dot = path.find('.');
      at = member_of(*at, path.substr(0, dot));
      path.remove_prefix(dot == std::string_view::npos ? path.size() : dot + 1);
    }
    return at && is_something(*at);
  }

private:
  void collect(const json_value& value) {
    if (value.kind() != json_kind::object && value.kind() != json_kind::array)
      return;
    for (const auto one : value) {
      if (value.kind() == json_kind::object && is_something(one))
        names_.insert(one.key());
      collect(one);
    }
  }

  std::variant<json_document, field_problem> read_;
  std::set<std::string_view> names_;
};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n\v\f";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

void add_once(std::vector<std::string>& to, std::string_view name) {
  if (std::find(to.begin(), to.end(), name) == to.end())
    to.emplace_back(name);
}

/// Walks the tags of one template after another.
class tag_walk {
public:
  tag_walk(const field_names& fields, const field_names* defaults)
      : fields_(fields), defaults_(defaults) {}

  void walk(std::string_view text) {
    const auto prepared = prepare_template(text);
    if (!prepared)
      return;
    sections_.clear();
    std::string_view rest = prepared->pattern;
    for (auto open = rest.find("{{"); open != std::string_view::npos; open = rest.find("{{")) {
      const bool is_raw = rest.substr(open + 2).starts_with('{');
      const std::string_view end = is_raw ? "}}}" : "}}";
      const auto inner = open + (is_raw ? 3 : 2);
      const auto close = rest.find(end, inner);
      take(trimmed(rest.substr(inner, close - inner)));
      rest.remove_prefix(close + end.size());
    }
  }

  template_fields take_found() { return std::move(found_); }

private:
  struct section {
    bool is_hidden = false;
    bool is_inverted = false;
  };

  void take(std::string_view tag) {
    const bool is_variable = tag.starts_with(variable_mark);
    const bool is_section = tag.starts_with('#') || tag.starts_with('^');
    if (tag.starts_with('/'))
      return sections_.pop_back();
    if (!is_variable && !is_section)
      return; // text, or a comment
    const auto name = trimmed(tag.substr(1));
    const bool is_item = name == ".";
    if (!is_item)
      add_once(found_.used, name);
    const bool is_there = is_item || has(name, is_variable);
    const bool is_hidden = !sections_.empty() && sections_.back().is_hidden;
    if (is_section)
      sections_.push_back({is_hidden || is_there == tag.starts_with('^'), tag.starts_with('^')});
    else if (!is_there && !is_hidden)
      add_once(found_.missing, name);
  }

  /// Sections never ask the defaults.
  bool has(std::string_view name, bool is_variable) const {
    const bool is_within = std::any_of(sections_.begin(), sections_.end(),
                                       [](const section& one) { return !one.is_inverted; });
    return fields_.has(name, is_within)
           || (is_variable && defaults_ != nullptr && defaults_->has(name, is_within));
  }

  const field_names& fields_;
  const field_names* defaults_;
  std::vector<section> sections_;
  template_fields found_;
};

} // namespace

template_fields find_template_fields(const content& what, std::string_view fields) {
  const field_names own{fields}, defaults{what.defaults};
  tag_walk walk{own, what.missing == missing_field::fallback ? &defaults : nullptr};
  walk.walk(what.subject);
  const auto headers = json_document::read(what.headers);
  if (const auto* document = std::get_if<json_document>(&headers))
    for (const auto header : document->root())
      walk.walk(header.text());
  walk.walk(what.text_body);
  walk.walk(what.html_body);
  return walk.take_found();
}

} // namespace paceline
