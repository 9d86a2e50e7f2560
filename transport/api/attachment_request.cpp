#include "transport/api/attachment_request.hpp"

#include <algorithm>

#include "config/text.hpp"
#include "transport/api/base64.hpp"
#include "transport/http/ascii.hpp"

namespace paceline {
namespace {

constexpr std::size_t max_name = 255, max_type_part = 127, max_content_id = 200;

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// RFC 6838, section 4.2: restricted-name.
bool is_type_part(std::string_view text) {
  return !text.empty() && text.size() <= max_type_part && is_alphanumeric(text.front())
         && std::all_of(text.begin(), text.end(), [](char c) {
              return is_alphanumeric(c)
                     || std::string_view{"!#$&-^_.+"}.find(c) != std::string_view::npos;
            });
}

/// Reads one of them; `known` are those before it.
class attachment_reader {
public:
  attachment_reader(json_value value, const json_place& place, problem_list& problems)
      : from_(value, place, problems) {}

  attachment read(const std::vector<attachment>& known) {
    attachment made;
    from_.need("name", "the file's name");
    made.name = checked("name", attachment_name_problem);
    from_.need("media_type", "such as application/pdf");
    made.media_type = ascii_lower(checked("media_type", media_type_problem));
    made.content_id = checked("content_id", content_id_problem);
    const auto is_taken = [&made](const attachment& one) {
      return !made.content_id.empty() && one.content_id == made.content_id;
    };
    if (std::any_of(known.begin(), known.end(), is_taken))
      from_.add("content_id", "another attachment has it already");
    from_.need("content", "the file in base64");
    constexpr text_rule any{.most = std::string_view::npos, .least = 0, .one_line = false};
    if (const auto text = from_.text("content", any)) {
      if (auto octets = read_base64(*text))
        made.data = std::move(*octets);
      else
        from_.add("content", "must be base64 with padding (RFC 4648, section 4)");
    }
    from_.finish();
    return made;
  }

private:
  using rule = std::optional<std::string> (*)(std::string_view);

  std::string checked(std::string_view name, rule problem_of) {
    const auto text = from_.text(name, {.most = max_name, .least = 1});
    if (!text)
      return {};
    if (auto problem = problem_of(*text))
      from_.add(name, std::move(*problem));
    return std::string{*text};
  }

  object_fields from_;
};

} // namespace

std::optional<std::string> attachment_name_problem(std::string_view name) {
  if (name.empty() || name.size() > max_name)
    return "has " + std::to_string(name.size()) + " octets: 1 to 255 are allowed";
  if (first_invalid_utf8(name))
    return "is not UTF-8";
  if (has_control_characters(name) || name.find_first_of("/\\\t") != std::string_view::npos)
    return "must be a file's name without folders: no slash, backslash or control character";
  if (name == "." || name == "..")
    return "must be a file's name, not a folder's";
  return std::nullopt;
}

std::optional<std::string> media_type_problem(std::string_view type) {
  const auto slash = type.find('/');
  if (slash == std::string_view::npos || !is_type_part(type.substr(0, slash))
      || !is_type_part(type.substr(slash + 1)))
    return "must be type/subtype without parameters, such as application/pdf";
  const auto group = ascii_lower(type.substr(0, slash));
  if (group == "multipart" || group == "message")
    return "multipart and message types can't be attached: use application/octet-stream";
  return std::nullopt;
}

std::optional<std::string> content_id_problem(std::string_view id) {
  if (id.empty() || id.size() > max_content_id)
    return "has " + std::to_string(id.size()) + " octets: 1 to 200 are allowed";
  const bool is_plain = std::all_of(id.begin(), id.end(), [](char c) {
    return c > 32 && c < 127 && c != '<' && c != '>' && c != '"' && c != '\\';
  });
  if (!is_plain)
    return "must be of printable ASCII characters without blanks, quotes and angle brackets";
  return std::nullopt;
}

std::vector<attachment> read_attachments(object_fields& from) {
  std::vector<attachment> all;
  const auto list = from.find("attachments");
  if (!list)
    return all;
  if (list->kind() != json_kind::array) {
    from.add("attachments", "must be an array, not " + std::string{name(list->kind())});
    return all;
  }
  if (list->size() > max_attachments) {
    from.add("attachments",
             "has " + std::to_string(list->size()) + " files: at most 50 are allowed");
    return all;
  }
  const json_place place{from.place(), "attachments"};
  std::size_t index = 0, octets = 0;
  for (const auto one : *list) {
    const json_place at{place, index++};
    all.push_back(attachment_reader{one, at, from.problems()}.read(all));
    octets += all.back().data.size();
  }
  if (octets > max_attached_octets)
    from.add("attachments",
             "have " + std::to_string(octets) + " octets together: at most 40 MiB are allowed");
  return all;
}

} // namespace paceline
