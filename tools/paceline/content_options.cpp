#include "tools/paceline/content_options.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "config/text.hpp"
#include "tools/paceline/arguments.hpp"
#include "tools/paceline/json.hpp"
#include "transport/api/attachment_request.hpp"
#include "transport/api/content_request.hpp"
#include "transport/http/ascii.hpp"
#include "transport/mail/address.hpp"
#include "transport/mail/header_rules.hpp"

namespace paceline {
namespace {

error invalid(std::string text) {
  return {error_kind::invalid, std::move(text)};
}

result<std::string> text_or_file(const std::string& text, const std::string& file,
                                 const char* option) {
  if (!file.empty())
    return read_text_file(file);
  if (const auto at = first_invalid_utf8(text))
    return invalid(std::string{option} + " is not UTF-8 at octet " + std::to_string(*at + 1) + ".");
  return text;
}

/// By the file's name: what readers need to open it. Everything else is only saved.
std::string media_type_of(const std::filesystem::path& file) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 18> known{{
      {".pdf", "application/pdf"},
      {".png", "image/png"},
      {".jpg", "image/jpeg"},
      {".jpeg", "image/jpeg"},
      {".gif", "image/gif"},
      {".webp", "image/webp"},
      {".svg", "image/svg+xml"},
      {".txt", "text/plain"},
      {".csv", "text/csv"},
      {".html", "text/html"},
      {".htm", "text/html"},
      {".ics", "text/calendar"},
      {".vcf", "text/vcard"},
      {".json", "application/json"},
      {".xml", "application/xml"},
      {".zip", "application/zip"},
      {".gz", "application/gzip"},
      {".mp3", "audio/mpeg"},
  }};
  const auto ending = ascii_lower(file.extension().string());
  const auto found = std::find_if(known.begin(), known.end(),
                                  [&ending](const auto& one) { return one.first == ending; });
  return std::string{found == known.end() ? "application/octet-stream" : found->second};
}

result<attachment> read_attachment(const std::string& file, bool is_inline) {
  const std::filesystem::path path{file};
  attachment made;
  made.name = path.filename().string();
  if (const auto problem = attachment_name_problem(made.name))
    return invalid("The name of the file " + printable(file) + " " + *problem + ".");
  made.media_type = media_type_of(path);
  if (is_inline) {
    made.content_id = made.name;
    if (const auto problem = content_id_problem(made.content_id))
      return invalid("The HTML can't show " + printable(file) + " by its name, which " + *problem
                     + ": rename the file.");
  }
  auto octets = read_file(file, max_attached_octets);
  if (!octets)
    return octets.failure();
  made.data = std::move(*octets);
  return made;
}

result<std::vector<attachment>> read_attachments(const content_options& options) {
  std::vector<attachment> all;
  std::size_t octets = 0;
  for (const auto* files : {&options.attached, &options.shown_inline})
    for (const auto& file : *files) {
      auto one = read_attachment(file, files == &options.shown_inline);
      if (!one)
        return one.failure();
      octets += one->data.size();
      all.push_back(std::move(*one));
    }
  if (all.size() > max_attachments)
    return invalid("At most 50 files can be attached.");
  if (octets > max_attached_octets)
    return invalid("The attached files have " + std::to_string(octets)
                   + " octets together: at most 40 MiB are allowed.");
  return all;
}

result<std::string> reply_to_of(const content_options& options) {
  constexpr std::size_t most = 10;
  if (options.reply_to.size() > most)
    return invalid("--reply-to may be given ten times at most.");
  std::string list;
  for (const auto& one : options.reply_to) {
    if (const auto problem = sender_problem(one))
      return invalid("--reply-to " + printable(one) + ": " + *problem);
    list += (list.empty() ? "" : ", ") + one;
  }
  return list;
}

result<std::string> headers_json(const content_options& options) {
  json_text out;
  out.begin_object();
  const auto reply_to = reply_to_of(options);
  if (!reply_to)
    return reply_to.failure();
  if (!reply_to->empty())
    out.member("Reply-To", *reply_to);
  std::vector<std::string> seen;
  for (const std::string_view pair : options.headers) {
    const auto name = pair.substr(0, pair.find('='));
    const auto value = pair.substr(std::min(name.size() + 1, pair.size()));
    const auto shown = "--header " + printable(name);
    if (name.size() == pair.size())
      return invalid(shown + ": write NAME=VALUE.");
    if (const auto problem = header_name_problem(name))
      return invalid(shown + ": " + *problem + ".");
    if (const auto problem = header_value_problem(value))
      return invalid(shown + ": " + *problem + ".");
    auto plain = ascii_lower(name);
    if (std::find(seen.begin(), seen.end(), plain) != seen.end())
      return invalid(shown + " is given twice.");
    seen.push_back(std::move(plain));
    out.member(name, value);
  }
  auto line = out.end_object().line();
  line.pop_back();
  return line;
}

result<done> read_missing(const content_options& options, content& into) {
  auto defaults = fields_json(options.defaults);
  if (!defaults)
    return defaults.failure();
  into.defaults = std::move(*defaults);
  if (!options.defaults.empty())
    into.missing = missing_field::fallback;
  if (options.missing.empty())
    return done{};
  const auto choice = parse_missing(options.missing);
  if (!choice)
    return invalid("--missing must be empty, default or reject.");
  if (!options.defaults.empty() && *choice != missing_field::fallback)
    return invalid("--default needs --missing default, or none.");
  into.missing = *choice;
  return done{};
}

} // namespace

void add_content_options(CLI::App& to, content_options& into, bool needs_sender) {
  to.add_option("--from", into.from, "The sender: 'Name <local@domain>' or an address")
      ->required(needs_sender)
      ->type_name("MAILBOX");
  const auto pair = [&to](const char* option, std::string& text, std::string& file,
                          const std::string& what) {
    auto* const direct = to.add_option(option, text, what)->type_name("TEXT");
    to.add_option(std::string{option} + "-file", file, what + ", from a file (UTF-8)")
        ->type_name("FILE")
        ->excludes(direct);
  };
  pair("--subject", into.subject, into.subject_file, "The subject; {{field}} is replaced");
  pair("--text", into.text, into.text_file, "The text part");
  pair("--html", into.html, into.html_file, "The HTML part, if there shall be one");
  const auto several = [&to](const char* option, std::vector<std::string>& values, const char* type,
                             const std::string& what) {
    to.add_option(option, values, what + "; may be repeated")
        ->type_name(type)
        ->allow_extra_args(false);
  };
  several("--attach", into.attached, "FILE", "Goes with each message");
  several("--inline", into.shown_inline, "FILE",
          "The same, shown in the HTML as <img src=\"cid:NAME\">");
  several("--header", into.headers, "NAME=VALUE", "A header of one's own; {{field}} is replaced");
  several("--reply-to", into.reply_to, "MAILBOX", "Where answers go");
  several("--default", into.defaults, "NAME=VALUE", "What stands for a field that is missing");
  to.add_option("--missing", into.missing,
                "What becomes of missing fields: empty, default or reject (the message)")
      ->type_name("CHOICE");
}

std::string content_problem(const content_options& options) {
  if (options.subject.empty() && options.subject_file.empty())
    return "A subject is missing: --subject or --subject-file.";
  if (options.text.empty() && options.text_file.empty())
    return "A text is missing: --text or --text-file.";
  return {};
}

result<content> read_content(const content_options& options) {
  content what;
  if (const auto problem = sender_problem(options.from))
    return invalid("--from: " + *problem);
  what.sender = ascii_mailbox(options.from);
  auto subject = text_or_file(options.subject, options.subject_file, "--subject");
  if (!subject)
    return subject.failure();
  what.subject = without_line_end(std::move(*subject));
  auto text = text_or_file(options.text, options.text_file, "--text");
  if (!text)
    return text.failure();
  what.text_body = std::move(*text);
  auto html = text_or_file(options.html, options.html_file, "--html");
  if (!html)
    return html.failure();
  what.html_body = std::move(*html);
  if (what.subject.empty() || what.text_body.empty())
    return invalid("Subject and text must not be empty.");
  auto headers = headers_json(options);
  if (!headers)
    return headers.failure();
  what.headers = std::move(*headers);
  if (const auto read = read_missing(options, what); !read)
    return read.failure();
  auto attachments = read_attachments(options);
  if (!attachments)
    return attachments.failure();
  what.attachments = std::move(*attachments);
  return what;
}

} // namespace paceline
