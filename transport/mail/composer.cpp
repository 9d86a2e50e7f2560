#include "transport/mail/composer.hpp"

#include <utility>

#include "transport/mail/message_head.hpp"
#include "transport/mail/mime_frame.hpp"

namespace paceline {
namespace {

/// Room for the fields of a head that each message has of its own, and for its values.
constexpr std::size_t typical_head = 600;

} // namespace

struct mail_composer::parts {
  parts(content_templates compiled, const mail_address& from)
      : templates(std::move(compiled)), head(templates, from) {}
  parts(const parts&) = delete;
  parts& operator=(const parts&) = delete;

  const content_templates templates;
  const message_head head;
  mail_form form = mail_form::raw;
  std::string sender;
  mime_frame frame;                                           ///< form `raw`
  std::shared_ptr<const std::vector<attachment>> attachments; ///< form `parts`
  std::size_t attached = 0;                                   ///< their octets

  void write_raw(const composed_for& what, const visible_mailboxes& visible,
                 const field_values& fields, outgoing_message& into, std::string& part) const;
  void fill_parts(const composed_for& what, visible_mailboxes visible, const field_values& fields,
                  outgoing_message& into, std::string& part) const;
};

void mail_composer::parts::write_raw(const composed_for& what, const visible_mailboxes& visible,
                                     const field_values& fields, outgoing_message& into,
                                     std::string& part) const {
  auto& raw = into.raw;
  raw.reserve(typical_head + head.memory() + frame.before_text.size() + frame.before_html.size()
              + templates.text_body().text_size() + templates.html_body().text_size()
              + frame.after.size());
  head.write(what, visible, fields, raw, part);
  const auto add_body = [&raw, &fields, &part](std::string_view name, const std::string& before,
                                               const template_part& body) {
    part = name;
    raw += before;
    quoted_writer writer{raw};
    body.render(fields, writer);
    writer.finish();
  };
  if (frame.has_text)
    add_body("text", frame.before_text, templates.text_body());
  if (frame.has_html)
    add_body("html", frame.before_html, templates.html_body());
  raw += frame.after;
  into.raw_tail = frame.tail;
  if (!frame.tail && !raw.ends_with("\r\n"))
    raw += "\r\n";
}

void mail_composer::parts::fill_parts(const composed_for& what, visible_mailboxes visible,
                                      const field_values& fields, outgoing_message& into,
                                      std::string& part) const {
  for (const auto& one : visible.to)
    into.to.push_back(one.text());
  for (const auto& one : visible.cc)
    into.cc.push_back(one.text());
  if (!what.row.addresses)
    into.to = what.row.recipients;
  into.attachments = attachments;
  part = "subject";
  into.subject = templates.subject_for(fields);
  part = "text";
  templates.text_body().render(fields, into.text_body);
  part = "html";
  templates.html_body().render(fields, into.html_body);
  for (const auto& header : templates.headers()) {
    (part = "headers.") += header.name;
    if (auto value = content_templates::value_for(header, fields); !value.empty())
      into.headers.emplace_back(header.name, std::move(value));
  }
  if (!what.links)
    return;
  part = "List-Unsubscribe";
  into.headers.emplace_back("List-Unsubscribe", unsubscribe_value(what));
  into.headers.emplace_back("List-Unsubscribe-Post", one_click);
}

mail_composer::mail_composer(std::unique_ptr<parts> compiled) : parts_(std::move(compiled)) {}
mail_composer::mail_composer(mail_composer&&) noexcept = default;
mail_composer& mail_composer::operator=(mail_composer&&) noexcept = default;
mail_composer::~mail_composer() = default;

result<mail_composer> mail_composer::compile(const content& what, const composer_options& options) {
  auto sender = check_mailbox(what.sender);
  if (!sender.mailbox)
    return error{error_kind::invalid, "from: " + sender.problem};
  auto templates = content_templates::compile(what, options.form == mail_form::raw);
  if (!templates)
    return templates.failure();
  // Also for the form `parts`, because it checks the attachments.
  auto frame = make_mime_frame(what);
  if (!frame)
    return frame.failure();
  auto made = std::make_unique<parts>(std::move(*templates), *sender.mailbox);
  made->form = options.form;
  made->sender = ascii_mailbox(what.sender);
  for (const auto& one : what.attachments)
    made->attached += one.data.size();
  if (options.form == mail_form::raw)
    made->frame = std::move(*frame);
  else if (!what.attachments.empty())
    made->attachments = std::make_shared<const std::vector<attachment>>(what.attachments);
  return mail_composer{std::move(made)};
}

result<outgoing_message> mail_composer::compose(const composed_for& what) const {
  outgoing_message made;
  made.of = what.row.of;
  made.sender = parts_->sender;
  made.recipients = what.row.recipients;
  visible_mailboxes visible;
  if (what.row.addresses) {
    auto read = read_visible_mailboxes(*what.row.addresses);
    if (!read)
      return read.failure();
    visible = std::move(*read);
  }
  if (what.row.tags) {
    auto tags = read_tags(*what.row.tags);
    if (!tags)
      return tags.failure();
    made.tags = std::move(*tags);
  }
  const auto tree = read_fields(what.row.fields);
  if (!tree)
    return tree.failure();
  const auto fields = parts_->templates.with(*tree);
  std::string part;
  try {
    if (parts_->form == mail_form::raw)
      parts_->write_raw(what, visible, fields, made, part);
    else
      parts_->fill_parts(what, std::move(visible), fields, made, part);
  } catch (const std::exception& failure) {
    return error{error_kind::invalid, part + ": " + failure.what()};
  }
  return made;
}

std::size_t mail_composer::memory() const {
  const auto& frame = parts_->frame;
  return sizeof(parts) + parts_->templates.memory() + parts_->head.memory()
         + frame.before_text.capacity() + frame.before_html.capacity() + frame.after.capacity()
         + (frame.tail ? frame.tail->capacity() : 0) + (parts_->attachments ? parts_->attached : 0);
}

std::size_t mail_composer::typical_size() const {
  const auto& frame = parts_->frame;
  return typical_head + parts_->templates.text_body().text_size()
         + parts_->templates.html_body().text_size() + frame.before_text.size()
         + frame.before_html.size() + frame.after.size()
         + (frame.tail ? frame.tail->size() : parts_->attached);
}

} // namespace paceline
