#include "transport/api/content_request.hpp"

#include <algorithm>
#include <array>

#include "transport/api/attachment_request.hpp"
#include "transport/api/custom_headers.hpp"
#include "transport/api/mailboxes.hpp"
#include "transport/mail/address.hpp"

namespace paceline {
namespace {

constexpr std::size_t max_subject = 998; ///< RFC 5322, section 2.1.1
constexpr std::size_t max_body = 1 << 20;
constexpr std::size_t max_defaults = 64 << 10;
constexpr std::array<std::string_view, 9> members{
    "from", "subject", "text", "html", "headers", "reply_to", "attachments", "missing", "defaults"};

/// `mail_template` begins its errors with the part's name: `subject`, `headers.NAME`, ...
void add_template_problem(object_fields& from, const std::string& text) {
  constexpr std::string_view header = "headers.";
  const auto colon = text.find(": ");
  if (colon == std::string::npos)
    return from.problems().add(from.place(), text);
  const auto part = text.substr(0, colon);
  auto why = text.substr(colon + 2);
  if (part == "headers.Reply-To")
    from.add("reply_to", std::move(why));
  else if (part.starts_with(header))
    from.problems().add(json_place{json_place{from.place(), "headers"}, part.substr(header.size())},
                        std::move(why));
  else
    from.add(part, std::move(why));
}

/// `missing` and `defaults`; the latter alone means that they are used.
void read_missing(object_fields& from, content& into) {
  const auto defaults = from.find("defaults");
  if (defaults && defaults->kind() != json_kind::object)
    from.add("defaults", "must be an object, not " + std::string{name(defaults->kind())});
  else if (defaults && defaults->text().size() > max_defaults)
    from.add("defaults", "has " + std::to_string(defaults->text().size())
                             + " octets: at most 65536 are allowed");
  else if (defaults)
    into.defaults = std::string{defaults->text()};
  if (defaults)
    into.missing = missing_field::fallback;
  const auto choice = from.text("missing", {.most = 20});
  if (!choice)
    return;
  const auto known = parse_missing(*choice);
  if (!known)
    from.add("missing", "must be empty, default or reject");
  else if (defaults && *known != missing_field::fallback)
    from.add("missing", "must be default where there are defaults, or be left out");
  else
    into.missing = *known;
}

} // namespace

std::optional<missing_field> parse_missing(std::string_view choice) {
  if (choice == "empty")
    return missing_field::empty;
  if (choice == "default")
    return missing_field::fallback;
  if (choice == "reject")
    return missing_field::reject;
  return std::nullopt;
}

bool content_reading::is_in(const object_fields& from) {
  return std::any_of(members.begin(), members.end(),
                     [&from](std::string_view name) { return from.has(name); });
}

content_reading content_reading::read(object_fields& from) {
  content_reading made;
  const auto before = from.problems().size();
  from.need("from", "the sender, such as \"Shop <shop@example.com>\"");
  if (const auto sender = from.text("from", {.most = 320, .least = 1})) {
    if (auto read = read_mailbox(*sender); !read.problem.empty()) {
      from.add("from", std::move(read.problem));
    } else {
      made.what.sender = ascii_mailbox(*sender);
      made.sender_domain = domain_of(read.address);
    }
  }
  from.need("subject", "a text; {{name}} is replaced by a message's field");
  made.what.subject = from.text("subject", {.most = max_subject, .least = 1}).value_or("");
  const text_rule body{.most = max_body, .least = 0, .one_line = false};
  made.what.text_body = from.text("text", body).value_or("");
  made.what.html_body = from.text("html", body).value_or("");
  if (!from.has("text") && !from.has("html"))
    from.add("text", "is missing: text, html or both are needed");
  else if (made.what.text_body.empty() && made.what.html_body.empty()
           && from.problems().size() == before)
    from.add(from.has("text") ? "text" : "html",
             "must not be empty: text, html or both are needed");
  made.what.headers = read_headers(from);
  made.what.attachments = read_attachments(from);
  read_missing(from, made.what);
  if (from.problems().size() == before)
    made.compile_templates(from);
  return made;
}

void content_reading::compile_templates(object_fields& from) {
  if (const auto compiled = mail_template::compile(what); !compiled)
    return add_template_problem(from, compiled.failure().text);
  if ((what.subject + what.headers).find("{{") == std::string::npos)
    return;
  content only_headers;
  only_headers.subject = what.subject;
  only_headers.headers = what.headers;
  if (auto compiled = mail_template::compile(only_headers))
    headers_ = std::make_shared<const mail_template>(std::move(*compiled));
  // Defaults come into messages, too, so that they must not break a header either.
  if (const auto defaults = from.peek("defaults"); defaults && defaults->has_line_breaks())
    if (auto problem = header_problem(what.defaults))
      from.add("defaults", std::move(*problem));
}

std::optional<std::string> content_reading::header_problem(std::string_view fields) const {
  if (!headers_)
    return std::nullopt;
  const auto rendered = headers_->render(fields);
  if (!rendered)
    return rendered.failure().text;
  return std::nullopt;
}

} // namespace paceline
