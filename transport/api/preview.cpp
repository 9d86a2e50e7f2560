#include "transport/api/preview.hpp"

#include "transport/mail/composer.hpp"

namespace paceline {
namespace {

result<outgoing_message> compose(const content& what, const composed_for& row, mail_form form) {
  composer_options options;
  options.form = form;
  const auto composer = mail_composer::compile(what, options);
  if (!composer)
    return composer.failure();
  return composer->compose(row);
}

} // namespace

result<mail_preview> make_preview(const content& what, const preview_message& message) {
  due_message row;
  row.of.message = message_id{1};
  row.recipients = message.recipients;
  row.cost = static_cast<std::int16_t>(message.recipients.size());
  row.addresses = message.addresses;
  row.fields = message.fields;
  const composed_for composed{row, message.unix_seconds, nullptr, {}};
  auto parts = compose(what, composed, mail_form::parts);
  if (!parts)
    return parts.failure();
  auto whole = compose(what, composed, mail_form::raw);
  if (!whole)
    return whole.failure();
  mail_preview made;
  made.subject = std::move(parts->subject);
  made.text_body = std::move(parts->text_body);
  made.html_body = std::move(parts->html_body);
  made.headers = std::move(parts->headers);
  made.raw = std::move(whole->raw);
  if (whole->raw_tail)
    made.raw += *whole->raw_tail;
  made.fields = find_template_fields(what, message.fields);
  return made;
}

} // namespace paceline
