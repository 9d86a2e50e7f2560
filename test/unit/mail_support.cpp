#include "test/unit/mail_support.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <memory>

#include <gmime/gmime.h>

namespace paceline::test {
namespace {

struct release {
  void operator()(void* object) const { g_object_unref(object); }
  void operator()(char* text) const { g_free(text); }
};
template <class T>
using owned = std::unique_ptr<T, release>;

void prepare_gmime() {
  struct library {
    library() { g_mime_init(); }
  };
  static const library prepared;
}

std::string text_or_empty(const char* text) {
  return text ? text : "";
}

std::string unfolded(std::string text) {
  for (auto at = text.find_first_of("\r\n"); at != std::string::npos;
       at = text.find_first_of("\r\n"))
    text.erase(at, 1);
  const auto begin = std::min(text.find_first_not_of(" \t"), text.size());
  return text.substr(begin);
}

std::string octets_of(GMimePart* part) {
  auto* content = g_mime_part_get_content(part);
  owned<GMimeStream> stream{g_mime_stream_mem_new()};
  if (content)
    g_mime_data_wrapper_write_to_stream(content, stream.get());
  const auto* bytes = g_mime_stream_mem_get_byte_array(GMIME_STREAM_MEM(stream.get()));
  return {reinterpret_cast<const char*>(bytes->data), bytes->len};
}

void collect(GMimeObject* object, const std::string& inside, read_mail& into) {
  auto* type = g_mime_object_get_content_type(object);
  if (GMIME_IS_MULTIPART(object)) {
    auto* all = GMIME_MULTIPART(object);
    const auto path =
        (inside.empty() ? "" : inside + "/") + g_mime_content_type_get_media_subtype(type);
    for (int i = 0; i < g_mime_multipart_get_count(all); ++i)
      collect(g_mime_multipart_get_part(all, i), path, into);
    return;
  }
  auto* part = GMIME_PART(object);
  owned<char> name{g_mime_content_type_get_mime_type(type)};
  into.parts.push_back({name.get(), inside, text_or_empty(g_mime_part_get_filename(part)),
                        text_or_empty(g_mime_object_get_disposition(object)),
                        text_or_empty(g_mime_object_get_content_id(object)), octets_of(part)});
}

} // namespace

rapidjson::Document read_vectors(const std::string& path) {
  std::ifstream file{PACELINE_SOURCE_DIR "/test/vectors/" + path};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  rapidjson::Document document;
  document.Parse(text.data(), text.size());
  BOOST_REQUIRE(!document.HasParseError());
  return document;
}

std::string text_of(const rapidjson::Value& value) {
  return {value.GetString(), value.GetStringLength()};
}

content plain_content() {
  content what;
  what.id = content_id{1};
  what.sender = "news@example.com";
  what.subject = "Hello";
  what.text_body = "Text";
  return what;
}

due_message row_for(std::vector<std::string> recipients, std::string fields) {
  due_message row;
  row.of = {message_id{7001}, 2};
  row.project = project_id{3};
  row.stream = stream_id{4};
  row.recipients = std::move(recipients);
  row.fields = std::move(fields);
  return row;
}

outgoing_message compose_mail(const content& what, const due_message& row, mail_form form) {
  const auto composer = mail_composer::compile(what, {form});
  BOOST_REQUIRE_MESSAGE(static_cast<bool>(composer), (composer ? "" : composer.failure().text));
  auto made = composer->compose({row, 1'796'000'000, nullptr, "live"});
  BOOST_REQUIRE_MESSAGE(static_cast<bool>(made), (made ? "" : made.failure().text));
  return std::move(*made);
}

std::string compile_failure(const content& what) {
  const auto composer = mail_composer::compile(what, {});
  if (composer)
    return {};
  BOOST_TEST((composer.failure().kind == error_kind::invalid));
  return composer.failure().text;
}

std::string compose_failure(const content& what, const due_message& row) {
  const auto composer = mail_composer::compile(what, {});
  BOOST_REQUIRE_MESSAGE(static_cast<bool>(composer), (composer ? "" : composer.failure().text));
  const auto made = composer->compose({row, 0, nullptr, "live"});
  if (made)
    return {};
  BOOST_TEST((made.failure().kind == error_kind::invalid));
  return made.failure().text;
}

std::string whole_text(const outgoing_message& message) {
  return message.raw + (message.raw_tail ? *message.raw_tail : "");
}

std::string read_mail::header(const std::string& name) const {
  BOOST_REQUIRE_MESSAGE(count(name) == 1, name << ": " << count(name));
  return decoded_words(std::find_if(headers.begin(), headers.end(), [&name](const auto& one) {
                         return g_ascii_strcasecmp(one.first.c_str(), name.c_str()) == 0;
                       })->second);
}

std::size_t read_mail::count(const std::string& name) const {
  return static_cast<std::size_t>(
      std::count_if(headers.begin(), headers.end(), [&name](const auto& one) {
        return g_ascii_strcasecmp(one.first.c_str(), name.c_str()) == 0;
      }));
}

read_mail read_message(const std::string& text) {
  prepare_gmime();
  owned<GMimeStream> stream{g_mime_stream_mem_new_with_buffer(text.data(), text.size())};
  owned<GMimeParser> parser{g_mime_parser_new_with_stream(stream.get())};
  owned<GMimeMessage> message{g_mime_parser_construct_message(parser.get(), nullptr)};
  BOOST_REQUIRE(message != nullptr);
  read_mail read;
  auto* headers = g_mime_object_get_header_list(GMIME_OBJECT(message.get()));
  for (int i = 0; i < g_mime_header_list_get_count(headers); ++i) {
    auto* header = g_mime_header_list_get_header_at(headers, i);
    read.headers.emplace_back(g_mime_header_get_name(header),
                              unfolded(text_or_empty(g_mime_header_get_raw_value(header))));
  }
  collect(g_mime_message_get_mime_part(message.get()), "", read);
  return read;
}

std::string decoded_words(const std::string& text) {
  prepare_gmime();
  owned<char> decoded{g_mime_utils_header_decode_text(nullptr, text.c_str())};
  return decoded.get();
}

std::string decode_quoted_printable(const std::string& text) {
  prepare_gmime();
  GMimeEncoding state;
  g_mime_encoding_init_decode(&state, GMIME_CONTENT_ENCODING_QUOTEDPRINTABLE);
  std::string decoded(text.size() + 8, '\0');
  decoded.resize(g_mime_encoding_step(&state, text.data(), text.size(), decoded.data()));
  return decoded;
}

std::string parameter_of(const std::string& header, const std::string& name) {
  prepare_gmime();
  owned<GMimeContentType> type{g_mime_content_type_parse(nullptr, header.c_str())};
  return text_or_empty(g_mime_content_type_get_parameter(type.get(), name.c_str()));
}

void check_octets(const std::string& text) {
  std::size_t line = 0, longest = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const bool is_end = c == '\r' && i + 1 < text.size() && text[i + 1] == '\n';
    BOOST_REQUIRE_MESSAGE(c < 0x80 && c != 0, "octet " << int{c} << " at " << i);
    BOOST_REQUIRE_MESSAGE(is_end || c != '\r', "CR at " << i);
    BOOST_REQUIRE_MESSAGE(c != '\n' || (i > 0 && text[i - 1] == '\r'), "LF at " << i);
    longest = std::max(longest, is_end || c == '\n' ? line : line + 1);
    line = c == '\n' ? 0 : is_end ? line : line + 1;
  }
  BOOST_TEST(longest <= 998u);
}

std::string with_line_feeds(std::string_view text) {
  std::string made;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n')
      continue;
    made += text[i] == '\r' ? '\n' : text[i];
  }
  return made;
}

} // namespace paceline::test
