/// JSON text, written from front to back. For `--json` on every command that prints data.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace paceline {

/// Builds one JSON value; commas are its business. Ids are written as texts (`id`), because they
/// exceed what a double holds exactly, and many readers know nothing better.
class json_text {
public:
  json_text& begin_object() { return open('{'); }
  json_text& end_object() { return close('}'); }
  json_text& begin_array() { return open('['); }
  json_text& end_array() { return close(']'); }

  /// Inside an object, before its value.
  json_text& key(std::string_view name);

  json_text& value(std::string_view text);
  json_text& value(const char* text) { return value(std::string_view{text}); }
  json_text& value(const std::string& text) { return value(std::string_view{text}); }
  json_text& value(double number); ///< null where it is not finite
  template <std::same_as<bool> Flag>
  json_text& value(Flag flag) {
    return raw(flag ? "true" : "false");
  }
  template <std::integral Integer>
  requires(!std::same_as<Integer, bool>) json_text& value(Integer number) {
    return raw(std::to_string(number));
  }
  template <class T>
  json_text& value(const std::optional<T>& maybe) {
    return maybe ? value(*maybe) : null();
  }
  json_text& null() { return raw("null"); }

  template <class T>
  json_text& member(std::string_view name, const T& content) {
    return key(name).value(content);
  }
  /// An id as a text, null where it is none.
  template <class Id>
  json_text& id(std::string_view name, Id which) {
    key(name);
    return which.value() == 0 ? null() : value(std::to_string(which.value()));
  }
  /// A text, null where it is empty.
  json_text& text_or_null(std::string_view name, std::string_view text) {
    key(name);
    return text.empty() ? null() : value(text);
  }

  /// The finished value as one line.
  std::string line() const { return out_ + "\n"; }

private:
  json_text& open(char bracket);
  json_text& close(char bracket);
  json_text& raw(std::string_view text);
  void separate();

  std::string out_;
  bool needs_comma_ = false;
};

} // namespace paceline
