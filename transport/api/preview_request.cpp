#include "transport/api/preview_request.hpp"

#include "transport/api/mailboxes.hpp"
#include "transport/api/shared_fields.hpp"

namespace paceline {

preview_request read_preview(json_value body, problem_list& problems) {
  const json_place root;
  object_fields from{body, root, problems};
  preview_request made;
  made.content = content_reading::read(from);
  const bool is_good = problems.is_empty();
  if (from.has("to") || from.has("cc") || from.has("bcc")) {
    envelope to;
    read_envelope(from, to);
    made.message.recipients = std::move(to.recipients);
    made.message.addresses = std::move(to.addresses);
  }
  if (const auto fields = read_fields_object(from)) {
    made.message.fields = std::string{fields->text()};
    if (fields->has_line_breaks() && is_good)
      if (auto problem = made.content.header_problem(made.message.fields))
        from.add("fields", std::move(*problem));
  }
  from.finish();
  return made;
}

} // namespace paceline
