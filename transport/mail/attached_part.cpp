#include "transport/mail/attached_part.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>

#include <gmime/gmime.h>

#include "transport/mail/header_rules.hpp"

namespace paceline {
namespace {

constexpr std::size_t max_name = 255, max_token = 100, max_content_id = 255;

struct release {
  void operator()(void* object) const { g_object_unref(object); }
  void operator()(GMimeFormatOptions* options) const { g_mime_format_options_free(options); }
};
template <class T>
using owned = std::unique_ptr<T, release>;

/// GMime prepares its tables once for the process, and does not guard that itself.
void prepare_gmime() {
  struct library {
    library() { g_mime_init(); }
  };
  static const library prepared;
}

/// RFC 2045, section 5.1, in lower case.
bool is_token(std::string_view text) {
  constexpr std::string_view others = "!#$%&'*+-.^_`{|}~";
  return !text.empty() && text.size() <= max_token
         && std::all_of(text.begin(), text.end(), [others](char c) {
              return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')
                     || others.find(c) != std::string_view::npos;
            });
}

std::optional<std::string> name_problem(std::string_view name) {
  if (name.empty() || name.size() > max_name)
    return "has " + std::to_string(name.size()) + " octets: 1 to 255 are allowed";
  if (name.find_first_of("/\\") != std::string_view::npos || name == "." || name == "..")
    return "must be a file's name without a path";
  return header_value_problem(name);
}

std::optional<std::string> media_type_problem(std::string_view type) {
  const auto slash = type.find('/');
  if (slash == std::string_view::npos || !is_token(type.substr(0, slash))
      || !is_token(type.substr(slash + 1)))
    return "must be type/subtype in lower case, such as application/pdf";
  if (type.starts_with("multipart/") || type.starts_with("message/"))
    return "can't be attached as such: use application/octet-stream";
  return std::nullopt;
}

std::optional<std::string> content_id_problem(std::string_view id) {
  if (id.size() > max_content_id || !std::all_of(id.begin(), id.end(), [](char c) {
        return c > ' ' && c < 0x7f && c != '<' && c != '>' && c != '"' && c != '\\';
      }))
    return "must be at most 255 printable ASCII characters without blanks, brackets and quotes";
  return std::nullopt;
}

std::optional<error> problem_of(const attachment& what, const std::string& name) {
  const auto fail = [&name](const char* member, const std::optional<std::string>& problem) {
    return error{error_kind::invalid, name + '.' + member + ": " + *problem};
  };
  if (const auto problem = name_problem(what.name))
    return fail("name", problem);
  if (const auto problem = media_type_problem(what.media_type))
    return fail("media_type", problem);
  if (const auto problem = content_id_problem(what.content_id))
    return fail("content_id", problem);
  return std::nullopt;
}

/// GMime would choose the smallest charset that holds the name; readers know UTF-8 best.
void use_utf8(GMimeParamList* parameters) {
  for (int i = 0; i < g_mime_param_list_length(parameters); ++i) {
    auto* parameter = g_mime_param_list_get_parameter_at(parameters, i);
    g_mime_param_set_charset(parameter, "UTF-8");
    g_mime_param_set_encoding_method(parameter, GMIME_PARAM_ENCODING_METHOD_RFC2231);
  }
}

owned<GMimePart> describe(const attachment& what, bool is_inline) {
  const auto slash = what.media_type.find('/');
  owned<GMimePart> part{g_mime_part_new_with_type(what.media_type.substr(0, slash).c_str(),
                                                  what.media_type.substr(slash + 1).c_str())};
  auto* object = GMIME_OBJECT(part.get());
  g_mime_object_set_disposition(object, is_inline ? GMIME_DISPOSITION_INLINE
                                                  : GMIME_DISPOSITION_ATTACHMENT);
  g_mime_part_set_filename(part.get(), what.name.c_str());
  use_utf8(g_mime_content_type_get_parameters(g_mime_object_get_content_type(object)));
  use_utf8(
      g_mime_content_disposition_get_parameters(g_mime_object_get_content_disposition(object)));
  if (!what.content_id.empty())
    g_mime_object_set_content_id(object, what.content_id.c_str());
  g_mime_part_set_content_encoding(part.get(), GMIME_CONTENT_ENCODING_BASE64);
  return part;
}

} // namespace

result<std::string> make_attached_part(const attachment& what, const std::string& name,
                                       bool is_inline) {
  if (const auto problem = problem_of(what, name))
    return *problem;
  prepare_gmime();
  const auto part = describe(what, is_inline);
  owned<GMimeStream> data{g_mime_stream_mem_new_with_buffer(what.data.data(), what.data.size())};
  owned<GMimeDataWrapper> content{
      g_mime_data_wrapper_new_with_stream(data.get(), GMIME_CONTENT_ENCODING_DEFAULT)};
  g_mime_part_set_content(part.get(), content.get());
  owned<GMimeFormatOptions> options{g_mime_format_options_new()};
  g_mime_format_options_set_newline_format(options.get(), GMIME_NEWLINE_FORMAT_DOS);
  owned<GMimeStream> written{g_mime_stream_mem_new()};
  if (g_mime_object_write_to_stream(GMIME_OBJECT(part.get()), options.get(), written.get()) < 0)
    return error{error_kind::internal, name + ": GMime can't encode it"};
  const auto* octets = g_mime_stream_mem_get_byte_array(GMIME_STREAM_MEM(written.get()));
  std::string_view text{reinterpret_cast<const char*>(octets->data), octets->len};
  if (text.ends_with("\r\n"))
    text.remove_suffix(2);
  return std::string{text};
}

} // namespace paceline
