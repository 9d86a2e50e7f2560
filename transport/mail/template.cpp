#include "transport/mail/template.hpp"

#include <charconv>
#include <exception>
#include <utility>

#include <kainjow/mustache.hpp>

#include "config/text.hpp"
#include "transport/mail/field_tree.hpp"
#include "transport/mail/template_text.hpp"

namespace paceline {
namespace {

namespace mustache = kainjow::mustache;

constexpr std::size_t max_part = 1 << 20;
constexpr std::size_t max_subject = 998; ///< RFC 5322, section 2.1.1: the longest line
/// Octets looked up for one part: escaping may make the result longer, dropped lines shorter.
constexpr std::size_t max_work = 2 * max_part;

/// Ends a rendering from within the engine.
struct too_long final : std::exception {
  const char* what() const noexcept override { return "more than 1 MiB"; }
};

/// What the engine writes to.
struct bounded_text {
  std::string& text;
  bounded_text& operator<<(const std::string& more) {
    if (text.size() + more.size() > max_part)
      throw too_long{};
    text += more;
    return *this;
  }
};

/// Looks up fields and plain texts, and bounds the work: lists within lists multiply.
class field_context final : public mustache::context<std::string> {
public:
  using data = mustache::data;

  field_context(const data* fields, const std::vector<data>& texts) : texts_(texts) {
    push(fields);
  }

  void push(const data* item) override {
    charge(1);
    context::push(item);
  }

  const data* get(const std::string& name) const override {
    const auto* found = is_plain_text(name) ? text_of(name) : context::get(name);
    charge(1 + (found != nullptr && found->is_string() ? found->string_value().size() : 0));
    return found;
  }

  /// Templates have no partials; a field must never be taken for one.
  const data* get_partial(const std::string&) const override { return nullptr; }

private:
  static bool is_plain_text(const std::string& name) {
    return !name.empty() && name.front() == plain_text_mark;
  }

  const data* text_of(const std::string& name) const {
    std::size_t index = 0;
    std::from_chars(name.data() + 1, name.data() + name.size(), index);
    return index < texts_.size() ? &texts_[index] : nullptr;
  }

  void charge(std::size_t octets) const {
    work_ += octets;
    if (work_ > max_work)
      throw too_long{};
  }

  const std::vector<data>& texts_;
  mutable std::size_t work_ = 0; // the engine's interface makes look-ups const
};

/// Subject, text or HTML.
class compiled_part {
public:
  compiled_part() = default;

  static result<compiled_part> compile(std::string_view name, const std::string& text,
                                       bool escapes) {
    auto fail = [name](const std::string& problem) {
      return error{error_kind::invalid, std::string{name} + ": " + problem};
    };
    if (text.size() > max_part)
      return fail("more than 1 MiB");
    if (auto bad = first_invalid_utf8(text))
      return fail("not UTF-8 at octet " + std::to_string(*bad + 1));
    auto prepared = prepare_template(text);
    if (!prepared)
      return fail(prepared.failure().text);
    compiled_part part;
    if (!prepared->has_tags) {
      part.plain_ = text;
      return part;
    }
    part.engine_ = std::make_unique<mustache::mustache>(prepared->pattern);
    if (!part.engine_->is_valid())
      return fail(part.engine_->error_message());
    if (!escapes)
      part.engine_->set_custom_escape([](const std::string& value) { return value; });
    for (auto& plain : prepared->texts)
      part.texts_.emplace_back(plain);
    return part;
  }

  /// Throws `too_long`.
  std::string render(const mustache::data& fields) const {
    if (!engine_)
      return plain_;
    std::string rendered;
    bounded_text out{rendered};
    field_context context{&fields, texts_};
    engine_->render(context, out);
    return rendered;
  }

private:
  std::string plain_;
  std::unique_ptr<mustache::mustache> engine_; ///< none where there is nothing to fill in
  std::vector<mustache::data> texts_;
};

} // namespace

struct mail_template::parts {
  compiled_part subject, text_body, html_body;
};

mail_template::mail_template(std::unique_ptr<parts> compiled) : parts_(std::move(compiled)) {}
mail_template::mail_template(mail_template&&) noexcept = default;
mail_template& mail_template::operator=(mail_template&&) noexcept = default;
mail_template::~mail_template() = default;

result<mail_template> mail_template::compile(const content& what) {
  if (what.subject.size() > max_subject)
    return error{error_kind::invalid, "subject: more than 998 octets"};
  if (what.subject.find_first_of(std::string_view{"\r\n\0", 3}) != std::string::npos)
    return error{error_kind::invalid, "subject: a line break or NUL"};
  auto compiled = std::make_unique<parts>();
  auto add = [](compiled_part& into, std::string_view name, const std::string& text, bool escapes) {
    auto part = compiled_part::compile(name, text, escapes);
    if (!part)
      return std::optional{part.failure()};
    into = std::move(*part);
    return std::optional<error>{};
  };
  if (auto failed = add(compiled->subject, "subject", what.subject, false))
    return *failed;
  if (auto failed = add(compiled->text_body, "text", what.text_body, false))
    return *failed;
  if (auto failed = add(compiled->html_body, "html", what.html_body, true))
    return *failed;
  return mail_template{std::move(compiled)};
}

result<rendered_mail> mail_template::render(std::string_view fields) const {
  auto tree = read_fields(fields);
  if (!tree)
    return tree.failure();
  rendered_mail mail;
  std::string_view part = "subject";
  try {
    mail.subject = parts_->subject.render(*tree);
    part = "text";
    mail.text_body = parts_->text_body.render(*tree);
    part = "html";
    mail.html_body = parts_->html_body.render(*tree);
  } catch (const std::exception& failure) {
    return error{error_kind::invalid, std::string{part} + ": " + failure.what()};
  }
  if (mail.subject.find_first_of(std::string_view{"\r\n\0", 3}) != std::string::npos)
    return error{error_kind::invalid, "subject: a field brought a line break or NUL into it"};
  if (mail.subject.size() > max_subject)
    return error{error_kind::invalid, "subject: more than 998 octets"};
  return mail;
}

} // namespace paceline
