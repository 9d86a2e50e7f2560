#include "transport/providers/smtp_reply.hpp"

#include <algorithm>
#include <utility>

namespace paceline {
namespace {

constexpr std::size_t max_text = 500;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Takes `4.7.1` off the front of `text`, with the blank after it; its class must be the code's.
std::string_view take_enhanced(std::string_view& text, int code) {
  std::size_t at = 0;
  for (int part = 0; part < 3; ++part) {
    const auto begin = at;
    while (at < text.size() && is_digit(text[at]) && at - begin < 3)
      ++at;
    if (at == begin)
      return {};
    if (part < 2 && (at >= text.size() || text[at++] != '.'))
      return {};
  }
  if (at < text.size() && text[at] != ' ')
    return {};
  if (text[0] - '0' != code / 100 || text[1] != '.')
    return {};
  const auto found = text.substr(0, at);
  text.remove_prefix(std::min(text.size(), at + 1));
  return found;
}

} // namespace

std::string smtp_reply::line() const {
  std::string out = std::to_string(code);
  for (const auto& part : {enhanced, text})
    if (!part.empty())
      out += ' ' + part;
  return out;
}

std::optional<smtp_reply> smtp_reply_reader::next() {
  std::size_t begin = 0;
  while (!broken_) {
    const auto end = input_.find('\n', begin);
    if ((end == std::string::npos ? input_.size() : end) - begin > max_line) {
      broken_ = true;
      break;
    }
    if (end == std::string::npos)
      break;
    std::string_view line{input_.data() + begin, end - begin};
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    begin = end + 1;
    if (take_line(line)) {
      input_.erase(0, begin);
      lines_ = 0;
      return std::exchange(open_, {});
    }
  }
  input_.erase(0, begin);
  return std::nullopt;
}

/// Whether the reply ends with this line.
bool smtp_reply_reader::take_line(std::string_view line) {
  const bool has_code = line.size() >= 3 && line[0] >= '2' && line[0] <= '5'
                        && std::all_of(line.begin(), line.begin() + 3, is_digit)
                        && (line.size() == 3 || line[3] == ' ' || line[3] == '-');
  if (!has_code || ++lines_ > max_lines) {
    broken_ = true;
    return false;
  }
  const int code = (line[0] - '0') * 100 + (line[1] - '0') * 10 + (line[2] - '0');
  if (lines_ > 1 && code != open_.code) {
    broken_ = true; // lines of one reply have one code
    return false;
  }
  open_.code = code;
  auto text = line.substr(std::min<std::size_t>(line.size(), 4));
  const auto enhanced = take_enhanced(text, code);
  if (open_.enhanced.empty())
    open_.enhanced = enhanced;
  if (!text.empty() && open_.text.size() < max_text) {
    if (!open_.text.empty())
      open_.text += ' ';
    open_.text += text.substr(0, max_text - std::min(max_text, open_.text.size()));
  }
  return line.size() == 3 || line[3] == ' ';
}

} // namespace paceline
