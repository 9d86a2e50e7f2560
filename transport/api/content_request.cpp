#include "transport/api/content_request.hpp"

#include <algorithm>
#include <array>

#include "transport/api/custom_headers.hpp"
#include "transport/api/mailboxes.hpp"

namespace paceline {
namespace {

constexpr std::size_t max_subject = 998; ///< RFC 5322, section 2.1.1
constexpr std::size_t max_body = 1 << 20;
constexpr std::array<std::string_view, 6> members{"from", "subject", "text",
                                                  "html", "headers", "reply_to"};

/// `mail_template::compile` begins its error with the part's name.
void add_template_problem(object_fields& from, const std::string& text) {
  const auto colon = text.find(": ");
  const auto part = text.substr(0, colon);
  if (colon != std::string::npos && (part == "subject" || part == "text" || part == "html"))
    from.add(part, text.substr(colon + 2));
  else
    from.problems().add(from.place(), text);
}

} // namespace

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
      made.what.sender = std::string{*sender};
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
  if (from.problems().size() != before)
    return made;
  if (const auto compiled = mail_template::compile(made.what); !compiled)
    add_template_problem(from, compiled.failure().text);
  else if (made.what.subject.find("{{") != std::string::npos) {
    content only_subject;
    only_subject.subject = made.what.subject;
    if (auto subject = mail_template::compile(only_subject))
      made.subject_ = std::make_shared<const mail_template>(std::move(*subject));
  }
  return made;
}

std::optional<std::string> content_reading::subject_problem(std::string_view fields) const {
  if (!subject_)
    return std::nullopt;
  const auto rendered = subject_->render(fields);
  if (!rendered)
    return rendered.failure().text;
  return std::nullopt;
}

} // namespace paceline
