#include "transport/api/json_pointer.hpp"

namespace paceline {

void append_pointer(std::string& to, std::string_view name) {
  to += '/';
  for (const char c : name) {
    if (c == '~')
      to += "~0";
    else if (c == '/')
      to += "~1";
    else
      to += c;
  }
}

void append_pointer(std::string& to, std::size_t index) {
  to += '/';
  to += std::to_string(index);
}

std::string json_place::pointer() const {
  if (parent_ == nullptr)
    return {};
  auto made = parent_->pointer();
  if (index_ == no_index)
    append_pointer(made, key_);
  else
    append_pointer(made, index_);
  return made;
}

} // namespace paceline
