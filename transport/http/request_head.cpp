#include "transport/http/request_head.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "transport/http/ascii.hpp"
#include "transport/http/problem.hpp"

namespace paceline {
namespace {

using refusal = std::optional<http_response>;

refusal malformed(std::string_view detail) {
  return problem(400, "malformed_request", detail);
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_hex(char c) {
  return is_digit(c) || (ascii_lower(c) >= 'a' && ascii_lower(c) <= 'f');
}

/// A character of a token (RFC 9110, section 5.6.2).
bool is_token(char c) {
  return is_digit(c) || (ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z')
         || std::string_view{"!#$%&'*+-.^_`|~"}.find(c) != std::string_view::npos;
}

bool is_control(char c) {
  auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t') || byte == 0x7f;
}

std::string_view trimmed(std::string_view text) {
  auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Cuts the next line, without its CRLF, off the front.
std::string_view next_line(std::string_view& text) {
  auto end = text.find("\r\n");
  auto line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
  return line;
}

refusal check_target(std::string_view target) {
  if (target.empty() || target.front() != '/')
    return malformed("The request target must be a path that begins with '/'.");
  for (std::size_t i = 0; i < target.size(); ++i) {
    auto byte = static_cast<unsigned char>(target[i]);
    if (byte <= 0x20 || byte >= 0x7f || byte == '#')
      return malformed("The request target has a character that must be percent-encoded.");
    if (byte != '%')
      continue;
    if (i + 2 >= target.size() || !is_hex(target[i + 1]) || !is_hex(target[i + 2]))
      return malformed("The request target has a '%' without two hexadecimal digits.");
    if (target[i + 1] == '0' && target[i + 2] == '0')
      return malformed("The request target has an encoded NUL.");
  }
  return {};
}

/// A proxy's form of the target, with scheme and host, means the same as its path.
std::string_view without_authority(std::string_view target) {
  for (std::string_view scheme : {"http://", "https://"}) {
    if (!target.starts_with(scheme))
      continue;
    auto path = target.find('/', scheme.size());
    return path == std::string_view::npos ? std::string_view{"/"} : target.substr(path);
  }
  return target;
}

refusal parse_request_line(std::string_view line, request_head& head) {
  auto space = line.find(' ');
  auto method = line.substr(0, space);
  if (space == std::string_view::npos || method.empty()
      || !std::all_of(method.begin(), method.end(), is_token))
    return malformed("The first line must be: METHOD TARGET HTTP/1.1");
  auto second = line.find(' ', space + 1);
  if (second == std::string_view::npos)
    return malformed("The first line must be: METHOD TARGET HTTP/1.1");
  auto version = line.substr(second + 1);
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    bool is_other = version.size() == 8 && version.starts_with("HTTP/") && is_digit(version[5])
                    && version[6] == '.' && is_digit(version[7]);
    return is_other ? problem(505, "unknown_version", "Use HTTP/1.1.")
                    : malformed("The first line must be: METHOD TARGET HTTP/1.1");
  }
  head.closes = version == "HTTP/1.0";
  auto target = without_authority(line.substr(space + 1, second - space - 1));
  if (auto wrong = check_target(target))
    return wrong;
  constexpr std::array<std::string_view, 7> known{"GET",   "HEAD",   "POST",   "PUT",
                                                  "PATCH", "DELETE", "OPTIONS"};
  if (std::find(known.begin(), known.end(), method) == known.end())
    return problem(501, "unknown_method", "This method is not known here.");
  head.method = method;
  head.target = target;
  return {};
}

refusal parse_header(std::string_view line, request_head& head) {
  if (line.front() == ' ' || line.front() == '\t')
    return malformed("A header must not go on in a second line.");
  auto colon = line.find(':');
  auto name = line.substr(0, colon);
  if (colon == std::string_view::npos || name.empty()
      || !std::all_of(name.begin(), name.end(), is_token))
    return malformed("A header must be: NAME ':' VALUE");
  auto value = line.substr(colon + 1);
  if (std::any_of(value.begin(), value.end(), is_control))
    return malformed("A header has a control character.");
  head.headers.emplace_back(name, trimmed(value));
  return {};
}

/// What the headers say about where the body ends, and whether we can read it.
class framing {
public:
  framing(request_head& head, const head_bounds& bounds) : head_(head), bounds_(bounds) {}

  refusal settle() {
    for (const auto& [name, value] : head_.headers)
      if (auto wrong = take(name, value))
        return wrong;
    if (hosts_ > 1 || (hosts_ == 0 && !is_old_))
      return malformed("There must be exactly one Host header.");
    if (head_.chunked && (has_length_ || is_old_))
      return malformed("Transfer-Encoding must not come with Content-Length or HTTP/1.0.");
    if (head_.length > bounds_.body)
      return problem(413, "body_too_large",
                     "The body may have at most " + std::to_string(bounds_.body) + " bytes.");
    return {};
  }

private:
  refusal take(std::string_view name, std::string_view value) {
    if (is_same_ascii(name, "host"))
      ++hosts_;
    else if (is_same_ascii(name, "content-length"))
      return take_length(value);
    else if (is_same_ascii(name, "transfer-encoding"))
      return take_transfer_encoding(value);
    else if (is_same_ascii(name, "content-encoding"))
      return take_content_encoding(value);
    else if (is_same_ascii(name, "connection"))
      take_connection(value);
    else if (is_same_ascii(name, "expect") && !is_old_)
      return take_expect(value);
    return {};
  }

  refusal take_length(std::string_view value) {
    constexpr std::size_t most_digits = 18; // What fits into 64 bits without looking closer.
    if (has_length_ || value.empty() || value.size() > most_digits
        || !std::all_of(value.begin(), value.end(), is_digit))
      return malformed("Content-Length must be there once, as a plain decimal number.");
    has_length_ = true;
    std::from_chars(value.data(), value.data() + value.size(), head_.length);
    return {};
  }

  refusal take_transfer_encoding(std::string_view value) {
    if (head_.chunked)
      return malformed("Transfer-Encoding must be there once.");
    if (!is_same_ascii(value, "chunked"))
      return problem(501, "unknown_transfer_encoding", "The only Transfer-Encoding is chunked.");
    head_.chunked = true;
    return {};
  }

  refusal take_content_encoding(std::string_view value) {
    if (is_same_ascii(value, "identity"))
      return {};
    if (head_.gzip || !(is_same_ascii(value, "gzip") || is_same_ascii(value, "x-gzip"))) {
      auto unknown = problem(415, "unknown_content_encoding",
                             "Send the body as it is, or compressed once with gzip.");
      unknown.headers.emplace_back("Accept-Encoding", "gzip");
      return unknown;
    }
    head_.gzip = true;
    return {};
  }

  refusal take_expect(std::string_view value) {
    if (!is_same_ascii(value, "100-continue"))
      return problem(417, "unknown_expectation", "The only expectation is 100-continue.");
    head_.expects_continue = true;
    return {};
  }

  void take_connection(std::string_view list) {
    while (!list.empty()) {
      auto comma = list.find(',');
      if (is_same_ascii(trimmed(list.substr(0, comma)), "close"))
        head_.closes = true;
      list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
    }
  }

  request_head& head_;
  const head_bounds& bounds_;
  bool is_old_ = head_.closes; ///< HTTP/1.0; the request line alone has been looked at so far
  bool has_length_ = false;
  int hosts_ = 0;
};

} // namespace

std::optional<http_response> head_scanner::check_line(std::size_t end, bool is_complete) {
  bool is_first = lines_ == 0;
  if (is_first && end - line_start_ > std::min(longest_request_line, bounds_.bytes))
    return problem(414, "target_too_long", "The first line of the request is too long.");
  if (end > bounds_.bytes)
    return problem(431, "headers_too_large",
                   "Request line and headers may have at most " + std::to_string(bounds_.bytes)
                       + " bytes.");
  // The blank line is no header, nor is the request line.
  if (is_complete && lines_ > bounds_.headers)
    return problem(431, "too_many_headers",
                   "There may be at most " + std::to_string(bounds_.headers) + " headers.");
  return {};
}

std::optional<http_response> head_scanner::scan(std::string_view bytes, std::size_t& length) {
  length = 0;
  for (;;) {
    auto newline = bytes.find('\n', seen_);
    if (newline == std::string_view::npos) {
      seen_ = bytes.size();
      return check_line(bytes.size(), false);
    }
    if (newline == line_start_ || bytes[newline - 1] != '\r')
      return malformed("Each line of the head must end with CR LF.");
    seen_ = newline + 1;
    bool is_blank = newline == line_start_ + 1;
    if (auto wrong = check_line(seen_, !is_blank))
      return wrong;
    if (is_blank && lines_ == 0)
      return malformed("The request begins with a blank line.");
    if (is_blank) {
      length = seen_;
      return {};
    }
    ++lines_;
    line_start_ = seen_;
  }
}

std::optional<http_response> parse_head(std::string_view bytes, const head_bounds& bounds,
                                        request_head& head) {
  if (auto wrong = parse_request_line(next_line(bytes), head))
    return wrong;
  refusal wrong;
  for (auto line = next_line(bytes); !line.empty() && !wrong; line = next_line(bytes))
    wrong = parse_header(line, head);
  return wrong ? wrong : framing(head, bounds).settle();
}

} // namespace paceline
