/// What one message costs in processor time from row to signed request, beside the same message
/// built by GMime each time anew.
#include "tools/benchmarks/benches.hpp"

#include <ctime>
#include <memory>
#include <stdexcept>

#include <gmime/gmime.h>

#include "transport/aws/credentials.hpp"
#include "transport/aws/sigv4.hpp"
#include "transport/mail/composer.hpp"
#include "transport/mail/template.hpp"
#include "transport/providers/ses_request.hpp"

namespace paceline::bench {
namespace {

constexpr std::size_t html_size = 20'000;
constexpr std::int64_t unix_seconds = 1'796'000'000;
const char fields[] = R"({"name":"J\u00f6rg M\u00fcller","city":"Bonn","plan":"yearly",)"
                      R"("until":"31 December","code":"A7-4411-X"})";

struct release {
  void operator()(void* object) const { g_object_unref(object); }
  void operator()(GMimeFormatOptions* options) const { g_mime_format_options_free(options); }
};
template <class T>
using owned = std::unique_ptr<T, release>;

/// A newsletter as editors make them: nested tables, inline styles, a word outside ASCII here and
/// there, five fields.
content make_content() {
  content what;
  what.id = content_id{1};
  what.sender = "Example News <news@example.com>";
  what.subject = "{{name}}, your offers in {{city}}";
  what.html_body = "<html><body>\n<p>Dear {{name}},</p>\n<p>your {{plan}} plan in {{city}} ends on "
                   "{{until}}: use {{{code}}}.</p>\n";
  for (int row = 0; what.html_body.size() < html_size - 20; ++row)
    what.html_body += "<tr style=\"padding:0 12px;font-family:Arial,sans-serif\"><td>Offer "
                      + std::to_string(row)
                      + " f\xc3\xbcr alle</td><td><a href=\"https://shop.example.com/?id="
                      + std::to_string(row * 7919) + "&amp;src=mail\">look</a></td></tr>\n";
  what.html_body += "</body></html>\n";
  return what;
}

due_message make_row() {
  due_message row;
  row.of = {message_id{720'575'940'379'279'361}, 1};
  row.project = project_id{1};
  row.stream = stream_id{2};
  row.recipients = {"joerg.mueller@example.org"};
  row.fields = fields;
  return row;
}

/// Of this thread, in seconds.
double processor_time() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// Microseconds of processor time for each of `count` calls.
template <class Work>
double time_each(int count, Work&& work) {
  for (int i = 0; i < count / 20; ++i)
    work(); // fills caches
  const auto begin = processor_time();
  for (int i = 0; i < count; ++i)
    work();
  return (processor_time() - begin) * 1e6 / count;
}

template <class T>
T needed(result<T> made) {
  if (!made)
    throw std::runtime_error(made.failure().text);
  return std::move(*made);
}

/// The whole message by GMime: what a sender does that keeps nothing between two messages. Rendered
/// by the same engine.
std::string build_with_gmime(const mail_template& compiled, const due_message& row) {
  const auto mail = needed(compiled.render(row.fields));
  owned<GMimeMessage> message{g_mime_message_new(TRUE)};
  g_mime_message_add_mailbox(message.get(), GMIME_ADDRESS_TYPE_FROM, "Example News",
                             "news@example.com");
  g_mime_message_add_mailbox(message.get(), GMIME_ADDRESS_TYPE_TO, nullptr,
                             row.recipients.front().c_str());
  g_mime_message_set_subject(message.get(), mail.subject.c_str(), "UTF-8");
  g_mime_message_set_message_id(message.get(), "720575940379279361.1@example.com");
  owned<GMimeTextPart> html{g_mime_text_part_new_with_subtype("html")};
  g_mime_text_part_set_charset(html.get(), "utf-8");
  g_mime_text_part_set_text(html.get(), mail.html_body.c_str());
  g_mime_part_set_content_encoding(GMIME_PART(html.get()), GMIME_CONTENT_ENCODING_QUOTEDPRINTABLE);
  g_mime_message_set_mime_part(message.get(), GMIME_OBJECT(html.get()));
  owned<GMimeFormatOptions> options{g_mime_format_options_new()};
  g_mime_format_options_set_newline_format(options.get(), GMIME_NEWLINE_FORMAT_DOS);
  owned<GMimeStream> out{g_mime_stream_mem_new()};
  g_mime_object_write_to_stream(GMIME_OBJECT(message.get()), options.get(), out.get());
  const auto* octets = g_mime_stream_mem_get_byte_array(GMIME_STREAM_MEM(out.get()));
  return {reinterpret_cast<const char*>(octets->data), octets->len};
}

/// From a message to the request for SES: base64 in JSON, its hash, the signature.
class request_maker {
public:
  std::size_t make(const outgoing_message& message) {
    const auto body = send_email_body(message, "");
    const auto hash = signer_.hash(body);
    const header_to_sign headers[] = {{"content-type", "application/json"},
                                      {"host", "email.eu-west-1.amazonaws.com"},
                                      {"x-amz-date", date}};
    return body.size()
           + signer_.authorize({"POST", "/v2/email/outbound-emails", headers, hash}, keys_, date)
                 .size();
  }

private:
  static constexpr const char* date = "20261130T005320Z";
  sigv4_signer signer_{"eu-west-1", "ses"};
  aws_credentials keys_{
      "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", {}, std::nullopt};
};

void run_once(int count, const content& what, const due_message& row, samples& into) {
  const auto composer = needed(mail_composer::compile(what, {mail_form::raw}));
  const auto compiled = needed(mail_template::compile(what));
  const unsubscribe_links links{"https://mail.example.com",
                                {"a key of at least 32 characters, yes"}};
  const composed_for direct{row, unix_seconds, nullptr, "live"};
  const composed_for campaign{row, unix_seconds, &links, "live"};
  request_maker requests;
  std::size_t octets = 0; // used, so that no work is left out
  into.add("compose", "us",
           time_each(count, [&] { octets += needed(composer.compose(direct)).raw_size(); }));
  into.add("compose_with_link", "us",
           time_each(count, [&] { octets += needed(composer.compose(campaign)).raw_size(); }));
  into.add("message", "us",
           time_each(count, [&] { octets += requests.make(needed(composer.compose(campaign))); }),
           requirement{bound::at_most, 60});
  into.add("by_gmime", "us",
           time_each(count / 4, [&] { octets += build_with_gmime(compiled, row).size(); }));
  into.add("message_by_gmime", "us", time_each(count / 4, [&] {
             outgoing_message message;
             message.of = row.of;
             message.sender = what.sender;
             message.recipients = row.recipients;
             message.raw = build_with_gmime(compiled, row);
             octets += requests.make(message);
           }));
  into.add("compile", "us", time_each(count / 100, [&] {
             octets += needed(mail_composer::compile(what, {mail_form::raw})).memory();
           }));
  if (octets == 0)
    throw std::runtime_error("nothing was made");
}

} // namespace

bench_report run_compose(stage& with) {
  g_mime_init();
  const int count = with.options().quick ? 2'000 : 20'000;
  bench_report report{"compose", with.options().full ? 9 : 5, {}, {}, {}};
  const auto what = make_content();
  const auto row = make_row();
  const auto size = needed(needed(mail_composer::compile(what, {mail_form::raw}))
                               .compose({row, unix_seconds, nullptr, "live"}))
                        .raw_size();
  report.settings = {{"html", std::to_string(what.html_body.size()) + " octets, 5 fields"},
                     {"message", std::to_string(size) + " octets"},
                     {"time", "of the processor, one thread"}};
  samples found;
  for (int run = 0; run < report.runs; ++run) {
    with.note("compose: run " + std::to_string(run + 1));
    run_once(count, what, row, found);
  }
  report.figures = found.figures();
  for (auto& one : report.figures) {
    if (one.name == "compose")
      one.floor = found.of("by_gmime")->median;
    if (one.name == "message")
      one.floor = found.of("message_by_gmime")->median;
  }
  return report;
}

} // namespace paceline::bench
