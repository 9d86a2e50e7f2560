#include "tools/paceline/json.hpp"

#include <array>
#include <cmath>
#include <cstdio>

#include "config/text.hpp"

namespace paceline {

void json_text::separate() {
  if (needs_comma_)
    out_ += ',';
  needs_comma_ = true;
}

json_text& json_text::open(char bracket) {
  separate();
  out_ += bracket;
  needs_comma_ = false;
  return *this;
}

json_text& json_text::close(char bracket) {
  out_ += bracket;
  needs_comma_ = true;
  return *this;
}

json_text& json_text::raw(std::string_view text) {
  separate();
  out_ += text;
  return *this;
}

json_text& json_text::key(std::string_view name) {
  raw(json_string(name));
  out_ += ':';
  needs_comma_ = false;
  return *this;
}

json_text& json_text::value(std::string_view text) {
  return raw(json_string(text));
}

json_text& json_text::value(double number) {
  if (!std::isfinite(number))
    return null();
  std::array<char, 40> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.12g", number);
  return raw(buffer.data());
}

} // namespace paceline
