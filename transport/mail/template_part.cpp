#include "transport/mail/template_part.hpp"

#include <charconv>
#include <utility>

#include "config/text.hpp"

namespace paceline {
namespace {

namespace mustache = kainjow::mustache;

/// Octets looked up for one part: escaping may make the result longer, dropped lines shorter.
constexpr std::size_t max_work = 2 * template_part::max_octets;
/// Around the number of a text within the engine; no UTF-8 text has it.
constexpr char text_mark = '\xff';

[[noreturn]] void fail_too_long() {
  throw rendering_failure{"more than 1 MiB"};
}

/// The number that `text` begins with.
std::size_t read_index(std::string_view text) {
  std::size_t index = 0;
  std::from_chars(text.data(), text.data() + text.size(), index);
  return index;
}

/// Looks up fields and plain texts, and bounds the work: lists within lists multiply.
class field_context final : public mustache::context<std::string> {
public:
  using data = mustache::data;

  field_context(const field_values& fields, const std::vector<data>& marks,
                const std::vector<std::size_t>& sizes)
      : fields_(fields), marks_(marks), sizes_(sizes) {
    push(fields.own);
  }

  void push(const data* item) override {
    charge(1);
    context::push(item);
  }

  const data* get(const std::string& name) const override {
    if (name.empty() || (name.front() != plain_text_mark && name.front() != variable_mark)) {
      charge(1);
      return context::get(name);
    }
    if (name.front() == variable_mark)
      return value_of(name.substr(1));
    const auto index = read_index(std::string_view{name}.substr(1));
    if (index >= marks_.size())
      return nullptr;
    charge(1 + sizes_[index]);
    return &marks_[index];
  }

  /// Templates have no partials; a field must never be taken for one.
  const data* get_partial(const std::string&) const override { return nullptr; }

private:
  const data* value_of(const std::string& name) const {
    const auto* found = context::get(name);
    if (fields_.missing != missing_field::empty && name != "." && (!found || found->is_false()))
      found = replacement(name);
    charge(1 + (found != nullptr && found->is_string() ? found->string_value().size() : 0));
    return found;
  }

  const data* replacement(const std::string& name) const {
    const bool falls_back = fields_.missing == missing_field::fallback;
    if (falls_back && fields_.defaults) {
      defaults_.push(fields_.defaults);
      const auto* found = defaults_.get(name);
      defaults_.pop();
      if (found)
        return found;
    }
    throw rendering_failure{"field " + printable(name, 100) + " is missing"
                            + (falls_back ? " and has no default" : "")};
  }

  void charge(std::size_t octets) const {
    work_ += octets;
    if (work_ > max_work)
      fail_too_long();
  }

  const field_values& fields_;
  const std::vector<data>& marks_;
  const std::vector<std::size_t>& sizes_;
  mutable mustache::context<std::string> defaults_; ///< looks up names with dots
  mutable std::size_t work_ = 0;                    // the engine's interface makes look-ups const
};

/// Takes text as it is.
struct plain_output {
  std::string& to;
  const std::vector<std::string>& texts;

  void text(std::string_view more) const { to += more; }
  void known_text(std::size_t index) const { to += texts[index]; }
  std::size_t size() const { return to.size(); }
};

/// Encodes values, and takes encoded texts.
struct quoted_output {
  quoted_writer& to;
  const std::vector<quoted_piece>& texts;

  void text(std::string_view more) const { to.text(more); }
  void known_text(std::size_t index) const { to.piece(texts[index]); }
  std::size_t size() const { return to.raw_size(); }
};

/// What the engine writes to: puts the texts back where their marks are.
template <class Output>
struct unmarking {
  const Output& to;
  std::size_t limit;

  unmarking& operator<<(const std::string& chunk) {
    std::string_view rest{chunk};
    for (auto mark = rest.find(text_mark); mark != std::string_view::npos;
         mark = rest.find(text_mark)) {
      to.text(rest.substr(0, mark));
      rest.remove_prefix(mark + 1);
      to.known_text(read_index(rest));
      rest.remove_prefix(rest.find(text_mark) + 1);
    }
    to.text(rest);
    if (to.size() > limit)
      fail_too_long();
    return *this;
  }
};

} // namespace

result<template_part> template_part::compile(std::string_view name, const std::string& text,
                                             part_rules rules) {
  auto fail = [name](const std::string& problem) {
    return error{error_kind::invalid, std::string{name} + ": " + problem};
  };
  if (text.size() > max_octets)
    return fail("more than 1 MiB");
  if (auto bad = first_invalid_utf8(text))
    return fail("not UTF-8 at octet " + std::to_string(*bad + 1));
  auto prepared = prepare_template(text);
  if (!prepared)
    return fail(prepared.failure().text);
  template_part part;
  if (!prepared->has_tags) {
    part.keep({text}, rules.encodes);
    return part;
  }
  part.engine_ = std::make_unique<mustache::mustache>(prepared->pattern);
  if (!part.engine_->is_valid())
    return fail(part.engine_->error_message());
  if (!rules.escapes)
    part.engine_->set_custom_escape([](const std::string& value) { return value; });
  part.fields_ = std::move(prepared->fields);
  part.keep(std::move(prepared->texts), rules.encodes);
  return part;
}

void template_part::keep(std::vector<std::string> texts, bool encodes) {
  for (auto& text : texts) {
    // The engine must see the blanks of a line that has nothing else.
    const bool is_blank = text.find_first_not_of(" \t") == std::string::npos;
    marks_.emplace_back(is_blank ? text : text_mark + std::to_string(marks_.size()) + text_mark);
    sizes_.push_back(text.size());
    if (encodes)
      quoted_.push_back(encode_piece(text));
  }
  if (!encodes)
    plain_ = std::move(texts);
}

template <class Output>
void template_part::run(const field_values& fields, Output& to) const {
  if (!engine_) {
    to.known_text(0);
    return;
  }
  field_context context{fields, marks_, sizes_};
  unmarking<Output> out{to, to.size() + max_octets};
  engine_->render(context, out);
}

void template_part::render(const field_values& fields, std::string& to) const {
  plain_output out{to, plain_};
  run(fields, out);
}

void template_part::render(const field_values& fields, quoted_writer& to) const {
  quoted_output out{to, quoted_};
  run(fields, out);
}

std::size_t template_part::memory() const {
  constexpr std::size_t of_a_text = 200, of_a_tag = 600; // measured; most of it is the engine's
  std::size_t octets = (marks_.size() + 1) * of_a_text;
  if (engine_)
    octets += marks_.size() * of_a_tag;
  for (const auto& text : plain_)
    octets += text.capacity();
  for (const auto& text : quoted_)
    octets += text.octets.capacity();
  return octets;
}

std::size_t template_part::text_size() const {
  std::size_t octets = 0;
  for (const auto& text : plain_)
    octets += text.size();
  for (const auto& text : quoted_)
    octets += text.octets.size();
  return octets;
}

} // namespace paceline
