#include "transport/mail/template_text.hpp"

#include <algorithm>
#include <optional>

#include "config/text.hpp"

namespace paceline {
namespace {

constexpr std::size_t max_sections = 32; ///< in each other; the engine recurses

std::string_view trimmed(std::string_view text) {
  constexpr auto blanks = " \t\r\n\v\f";
  auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// Walks a template tag by tag.
class preparation {
public:
  explicit preparation(std::string_view text) : text_(text) {}

  result<prepared_template> run() {
    while (auto open = next_tag()) {
      add_text(text_.substr(position_, *open - position_));
      if (auto problem = take_tag(*open))
        return error{error_kind::invalid, *problem};
    }
    add_text(text_.substr(position_));
    if (!sections_.empty())
      return error{error_kind::invalid, "section " + printable(sections_.back().name) + " (line "
                                            + line_of(sections_.back().where) + ") is not closed"};
    return std::move(prepared_);
  }

private:
  struct section {
    std::string_view name;
    std::size_t where = 0;
  };

  std::optional<std::size_t> next_tag() const {
    auto open = text_.find("{{", position_);
    if (open == std::string_view::npos)
      return std::nullopt;
    return open;
  }

  std::string line_of(std::size_t where) const {
    auto begin = text_.begin();
    return std::to_string(1 + std::count(begin, begin + static_cast<std::ptrdiff_t>(where), '\n'));
  }

  /// Copies the tag that begins at `open` into the pattern, or says what is wrong with it.
  std::optional<std::string> take_tag(std::size_t open) {
    bool is_raw = text_.substr(open + 2).starts_with('{');
    std::string_view end = is_raw ? "}}}" : "}}";
    auto inner = open + (is_raw ? 3 : 2);
    auto close = text_.find(end, inner);
    if (close == std::string_view::npos)
      return "tag in line " + line_of(open) + " is not closed with " + std::string{end};
    auto content = trimmed(text_.substr(inner, close - inner));
    prepared_.has_tags = true;
    position_ = close + end.size();
    if (auto problem = check_tag(content, is_raw, open))
      return problem;
    add_tag(content, is_raw);
    return std::nullopt;
  }

  /// Writes the tag as the engine gets it; comments, which may hold anything, without their text.
  void add_tag(std::string_view content, bool is_raw) {
    auto& pattern = prepared_.pattern;
    const auto kind = is_raw ? '&' : content.front();
    if (kind == '#' || kind == '^' || kind == '/' || kind == '!') {
      const auto name = kind == '!' ? std::string_view{} : trimmed(content.substr(1));
      ((((pattern += "{{") += kind) += name) += "}}");
      if (kind == '#' || kind == '^')
        note_field(name, false);
      return;
    }
    const auto name = !is_raw && kind == '&' ? trimmed(content.substr(1)) : content;
    pattern += kind == '&' ? "{{{" : "{{";
    (pattern += variable_mark) += name;
    pattern += kind == '&' ? "}}}" : "}}";
    note_field(name, true);
  }

  void note_field(std::string_view name, bool is_printed) {
    // The section that a name opens is on the stack already.
    const bool outside = sections_.size() == (is_printed ? 0 : 1);
    auto known = std::find_if(prepared_.fields.begin(), prepared_.fields.end(),
                              [name](const template_field& field) { return field.name == name; });
    if (known == prepared_.fields.end())
      known = prepared_.fields.insert(known, template_field{std::string{name}});
    known->is_printed = known->is_printed || is_printed;
    known->outside_section = known->outside_section || outside;
  }

  std::optional<std::string> check_tag(std::string_view content, bool is_raw, std::size_t open) {
    auto kind = content.empty() ? '\0' : content.front();
    if (kind == '=')
      return "changed delimiters (line " + line_of(open) + ") are not supported";
    if (is_raw || kind == '!')
      return std::nullopt;
    if (content.empty())
      return "empty tag in line " + line_of(open);
    auto name = trimmed(content.substr(1));
    if (kind == '>')
      return "partials (line " + line_of(open) + ") are not supported";
    if (kind == '#' || kind == '^') {
      sections_.push_back(section{name, open});
      if (sections_.size() > max_sections)
        return "more than 32 sections in each other in line " + line_of(open);
    } else if (kind == '/') {
      if (sections_.empty() || sections_.back().name != name)
        return "section " + printable(name) + " is closed in line " + line_of(open)
               + " but was not the last one opened";
      sections_.pop_back();
    }
    return std::nullopt;
  }

  /// Line breaks next to tags stay, because the engine drops lines that hold nothing but a section
  /// tag; the whole lines between the first and the last break go as one.
  void add_text(std::string_view plain) {
    auto first = plain.find('\n');
    if (first == std::string_view::npos) {
      add_plain(plain);
      return;
    }
    auto last = plain.rfind('\n');
    add_line(plain.substr(0, first));
    if (last != first)
      add_line(plain.substr(first + 1, last - first - 1));
    add_plain(plain.substr(last + 1));
  }

  void add_line(std::string_view line) {
    bool has_return = line.ends_with('\r');
    add_plain(line.substr(0, line.size() - (has_return ? 1 : 0)));
    prepared_.pattern += has_return ? "\r\n" : "\n";
  }

  void add_plain(std::string_view plain) {
    if (plain.empty())
      return;
    prepared_.pattern += "{{{";
    prepared_.pattern += plain_text_mark;
    prepared_.pattern += std::to_string(prepared_.texts.size());
    prepared_.pattern += "}}}";
    prepared_.texts.emplace_back(plain);
  }

  std::string_view text_;
  std::size_t position_ = 0;
  std::vector<section> sections_;
  prepared_template prepared_;
};

} // namespace

result<prepared_template> prepare_template(std::string_view text) {
  return preparation{text}.run();
}

} // namespace paceline
