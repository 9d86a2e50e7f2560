/// A JSON text as a flat list of values, for requests of up to 16 MiB.
///
/// RapidJSON reads; the values keep offsets instead of copies: decoded texts into one private copy
/// of the body, everything else into the body itself. Beyond JSON's grammar this refuses: nesting
/// above 32 levels, an object that names a member twice, text that is not UTF-8 (also by escapes
/// of half a surrogate pair), NUL in any text, and more than 600,000 values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "transport/http/problem.hpp"

namespace paceline {

enum class json_kind : std::uint8_t { null, boolean, number, text, array, object };

/// `a text`, `a number`, ... for error messages.
std::string_view name(json_kind kind);

class json_document;

/// One value of a document; cheap to copy, valid while the document lives.
class json_value {
public:
  json_value(const json_document& of, std::uint32_t index) : document_(&of), index_(index) {}

  json_kind kind() const;
  /// Of a text: decoded. Of everything else: exactly as written in the body.
  std::string_view text() const;
  std::string_view key() const; ///< of a member of an object, decoded
  std::size_t size() const;     ///< members or elements
  /// It, or a text within it, holds a carriage return or a line feed.
  bool has_line_breaks() const;

  /// Over members or elements, in the body's order.
  class iterator;
  iterator begin() const;
  iterator end() const;

private:
  const json_document* document_;
  std::uint32_t index_;
};

class json_value::iterator {
public:
  iterator(const json_document& of, std::uint32_t index) : value_(of, index) {}
  json_value operator*() const { return value_; }
  iterator& operator++();
  bool operator!=(const iterator& other) const { return value_.index_ != other.value_.index_; }

private:
  json_value value_;
};

class json_document {
public:
  /// Reads all of `body`, which must outlive the document. Objects under a key `opaque_key` are
  /// checked like everything else, but what they hold is not kept: only their text as written.
  /// The problem names where reading stopped: the pointer, and the octet in the detail.
  static std::variant<json_document, field_problem> read(std::string_view body,
                                                         std::string_view opaque_key = {});

  json_value root() const { return {*this, 0}; }

private:
  friend class json_value;
  friend class json_builder;

  struct node {
    std::uint32_t text_at = 0, text_size = 0;
    std::uint32_t key_at = 0, key_size = 0;
    std::uint32_t end = 0; ///< index behind its last descendant
    std::uint32_t count = 0;
    json_kind kind = json_kind::null;
    bool has_line_breaks = false;
  };

  explicit json_document(std::string_view body);

  std::string_view body_;
  std::string decoded_; ///< the body, its strings decoded in place
  std::vector<node> nodes_;
};

inline json_kind json_value::kind() const {
  return document_->nodes_[index_].kind;
}
inline std::size_t json_value::size() const {
  return document_->nodes_[index_].count;
}
inline bool json_value::has_line_breaks() const {
  return document_->nodes_[index_].has_line_breaks;
}
inline std::string_view json_value::text() const {
  const auto& node = document_->nodes_[index_];
  const std::string_view from =
      node.kind == json_kind::text ? std::string_view{document_->decoded_} : document_->body_;
  return from.substr(node.text_at, node.text_size);
}
inline std::string_view json_value::key() const {
  const auto& node = document_->nodes_[index_];
  return std::string_view{document_->decoded_}.substr(node.key_at, node.key_size);
}
inline json_value::iterator json_value::begin() const {
  return size() == 0 ? end() : iterator{*document_, index_ + 1};
}
inline json_value::iterator json_value::end() const {
  return {*document_, document_->nodes_[index_].end};
}
inline json_value::iterator& json_value::iterator::operator++() {
  value_.index_ = value_.document_->nodes_[value_.index_].end;
  return *this;
}

} // namespace paceline
