/// Writes answers. Texts are escaped, ids are texts: JavaScript's numbers end at 2^53.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "config/text.hpp"
#include "storage/model/ids.hpp"

namespace paceline {

/// Members and elements in the order of the calls; `take()` gives the text. Not thread-safe.
class json_output {
public:
  json_output& begin_object() { return begin('{'); }
  json_output& end_object() { return end('}'); }
  json_output& begin_array() { return begin('['); }
  json_output& end_array() { return end(']'); }
  /// What follows belongs to this member.
  json_output& name(std::string_view key) {
    separate();
    text_ += json_string(key);
    text_ += ':';
    needs_comma_ = false;
    return *this;
  }
  json_output& value(std::string_view text) { return raw(json_string(text)); }
  json_output& value(const char* text) { return value(std::string_view{text}); }
  json_output& value(std::same_as<bool> auto flag) { return raw(flag ? "true" : "false"); }
  json_output& value(std::integral auto number) { return raw(std::to_string(number)); }
  template <class Tag>
  json_output& value(strong_id<Tag> id) {
    return raw('"' + std::to_string(id.value()) + '"');
  }
  template <class T>
  json_output& member(std::string_view key, const T& of) {
    return name(key).value(of);
  }
  /// null where the text is empty.
  json_output& member_or_null(std::string_view key, std::string_view text) {
    name(key);
    return text.empty() ? raw("null") : value(text);
  }
  /// Something that is JSON already.
  json_output& raw(std::string_view json) {
    separate();
    text_ += json;
    needs_comma_ = true;
    return *this;
  }
  std::string take() { return std::move(text_); }

private:
  void separate() {
    if (needs_comma_)
      text_ += ',';
  }
  json_output& begin(char bracket) {
    separate();
    text_ += bracket;
    needs_comma_ = false;
    return *this;
  }
  json_output& end(char bracket) {
    text_ += bracket;
    needs_comma_ = true;
    return *this;
  }

  std::string text_;
  bool needs_comma_ = false;
};

} // namespace paceline
