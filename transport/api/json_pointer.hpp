/// RFC 6901 pointers, by which errors name the place in a body.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace paceline {

/// Adds `/name` with its escapes (`~0`, `~1`), or `/index`.
void append_pointer(std::string& to, std::string_view name);
void append_pointer(std::string& to, std::size_t index);

/// A place on the way down through a body. Lives on the stack of whoever reads; costs nothing until
/// something is wrong and the pointer's text is made.
class json_place {
public:
  json_place() = default; ///< the whole body
  json_place(const json_place& parent, std::string_view key) : parent_(&parent), key_(key) {}
  json_place(const json_place& parent, std::size_t index) : parent_(&parent), index_(index) {}

  std::string pointer() const;

private:
  static constexpr std::size_t no_index = SIZE_MAX;
  const json_place* parent_ = nullptr;
  std::string_view key_;
  std::size_t index_ = no_index;
};

} // namespace paceline
