#include "transport/api/json_document.hpp"

#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_set>
#include <utility>

#include "config/text.hpp"
#include "transport/api/json_pointer.hpp"

namespace paceline {
namespace {

constexpr std::size_t max_depth = 32;
constexpr std::size_t max_values = 600'000;
constexpr std::size_t few_members = 16; ///< up to here comparing all pairs is quickest

} // namespace

std::string_view name(json_kind kind) {
  switch (kind) {
  case json_kind::null:
    return "null";
  case json_kind::boolean:
    return "a boolean";
  case json_kind::number:
    return "a number";
  case json_kind::text:
    return "a text";
  case json_kind::array:
    return "an array";
  case json_kind::object:
    return "an object";
  }
  return "a value";
}

/// What RapidJSON calls while it reads. Its parser recurses, but not deeper than `max_depth`.
class json_builder : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, json_builder> {
public:
  json_builder(json_document& into, rapidjson::InsituStringStream& stream,
               std::string_view opaque_key)
      : into_(into), stream_(stream), opaque_key_(opaque_key) {}

  bool Null() { return add(json_kind::null, static_cast<std::uint32_t>(stream_.Tell()) - 4, 4); }
  bool Bool(bool is_true) {
    // The stream stands behind the word.
    const auto size = is_true ? 4u : 5u;
    return add(json_kind::boolean, static_cast<std::uint32_t>(stream_.Tell()) - size, size);
  }
  bool RawNumber(const char* text, rapidjson::SizeType size, bool) {
    return add(json_kind::number, offset(text), size);
  }
  bool String(const char* text, rapidjson::SizeType size, bool) {
    if (!is_storable({text, size}))
      return false;
    if (std::memchr(text, '\n', size) != nullptr || std::memchr(text, '\r', size) != nullptr)
      mark_line_break();
    return add(json_kind::text, offset(text), size);
  }
  bool Key(const char* text, rapidjson::SizeType size, bool) {
    if (!is_storable({text, size}))
      return false;
    key_at_ = offset(text);
    key_size_ = size;
    return true;
  }
  bool StartObject() { return open(json_kind::object); }
  bool StartArray() { return open(json_kind::array); }
  bool EndObject(rapidjson::SizeType) { return has_distinct_members() && close(); }
  bool EndArray(rapidjson::SizeType) { return close(); }
  bool Default() { return false; } // numbers come as RawNumber

  const std::string& problem() const { return problem_; }

  /// Of the value that was being read.
  std::string pointer() const {
    std::string made;
    for (std::size_t level = 1; level < open_.size(); ++level)
      append(made, open_[level - 1], into_.nodes_[open_[level]]);
    if (!open_.empty()) {
      json_document::node next;
      next.key_at = key_at_;
      next.key_size = key_size_;
      append(made, open_.back(), next);
    }
    return made;
  }

private:
  std::uint32_t offset(const char* text) const {
    return static_cast<std::uint32_t>(text - into_.decoded_.data());
  }

  bool fail(std::string why) {
    problem_ = std::move(why);
    return false;
  }

  /// RapidJSON has checked what stands there unescaped; escapes can still make NUL and half a
  /// surrogate pair, whose UTF-8 would begin with 0xED and an octet above 0x9F.
  bool is_storable(std::string_view text) {
    if (text.find('\0') != std::string_view::npos)
      return fail("a text with NUL (\\u0000), which can't be stored");
    for (auto at = text.find('\xed'); at != std::string_view::npos; at = text.find('\xed', at + 1))
      if (at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) > 0x9f)
        return fail("half of a surrogate pair");
    return true;
  }

  void mark_line_break() {
    for (auto index = open_.rbegin(); index != open_.rend(); ++index) {
      auto& node = into_.nodes_[*index];
      if (node.has_line_breaks)
        break; // and so have those around it
      node.has_line_breaks = true;
    }
    line_break_ = true;
  }

  bool add(json_kind kind, std::uint32_t at, std::uint32_t size) {
    auto& nodes = into_.nodes_;
    if (nodes.size() >= max_values)
      return fail("more than 600,000 values");
    json_document::node made;
    made.kind = kind;
    made.text_at = at;
    made.text_size = size;
    made.has_line_breaks = std::exchange(line_break_, false);
    made.end = static_cast<std::uint32_t>(nodes.size()) + 1;
    if (!open_.empty()) {
      auto& parent = nodes[open_.back()];
      ++parent.count;
      if (parent.kind == json_kind::object) {
        made.key_at = std::exchange(key_at_, 0);
        made.key_size = std::exchange(key_size_, 0);
      }
    }
    nodes.push_back(made);
    return true;
  }

  bool open(json_kind kind) {
    if (open_.size() >= max_depth)
      return fail("more than 32 levels of nesting");
    if (!add(kind, static_cast<std::uint32_t>(stream_.Tell()) - 1, 0))
      return false;
    open_.push_back(static_cast<std::uint32_t>(into_.nodes_.size()) - 1);
    return true;
  }

  bool close() {
    const auto index = open_.back();
    open_.pop_back();
    auto& node = into_.nodes_[index];
    node.text_size = static_cast<std::uint32_t>(stream_.Tell()) - node.text_at;
    const bool is_opaque =
        node.kind == json_kind::object && !opaque_key_.empty() && key_of(node) == opaque_key_;
    if (is_opaque) {
      into_.nodes_.resize(index + 1);
      node.count = 0;
    }
    node.end = static_cast<std::uint32_t>(into_.nodes_.size());
    return true;
  }

  std::string_view key_of(const json_document::node& node) const {
    return std::string_view{into_.decoded_}.substr(node.key_at, node.key_size);
  }

  template <class F>
  void each_member(F&& look) const {
    const auto index = open_.back();
    const auto& nodes = into_.nodes_;
    for (auto i = index + 1; i < nodes.size(); i = nodes[i].end)
      if (!look(nodes[i]))
        return;
  }

  bool has_distinct_members() {
    const auto count = into_.nodes_[open_.back()].count;
    std::string_view twice;
    if (count <= few_members) {
      std::array<std::string_view, few_members> seen;
      std::size_t size = 0;
      each_member([&](const json_document::node& member) {
        const auto key = key_of(member);
        if (std::find(seen.begin(), seen.begin() + size, key) != seen.begin() + size)
          return twice = key, is_twice_ = true, false;
        seen[size++] = key;
        return true;
      });
    } else {
      std::unordered_set<std::string_view> seen;
      each_member([&](const json_document::node& member) {
        if (!seen.insert(key_of(member)).second)
          return twice = key_of(member), is_twice_ = true, false;
        return true;
      });
    }
    if (!is_twice_)
      return true;
    key_at_ = offset(twice.data());
    key_size_ = static_cast<std::uint32_t>(twice.size());
    return fail("the member '" + printable(twice, 64) + "' is there twice");
  }

  void append(std::string& pointer, std::uint32_t parent, const json_document::node& child) const {
    const auto& of = into_.nodes_[parent];
    if (of.kind == json_kind::object) {
      if (const auto key = key_of(child); !key.empty()) // empty: it was not read yet
        append_pointer(pointer, key);
    } else // a child that is there counts already, one that was being read does not
      append_pointer(pointer, &child >= into_.nodes_.data()
                                      && &child < into_.nodes_.data() + into_.nodes_.size()
                                  ? of.count - 1
                                  : of.count);
  }

  json_document& into_;
  rapidjson::InsituStringStream& stream_;
  std::string_view opaque_key_;
  std::vector<std::uint32_t> open_; ///< indices of the containers we are in
  std::uint32_t key_at_ = 0, key_size_ = 0;
  bool line_break_ = false, is_twice_ = false;
  std::string problem_;
};

json_document::json_document(std::string_view body) : body_(body) {
  // RapidJSON takes all octets that a UTF-8 sequence should have, also where the text ends within
  // it: up to 3 beyond the terminator.
  constexpr std::size_t longest_sequence = 4;
  decoded_.reserve(body.size() + longest_sequence);
  decoded_.append(body).append(longest_sequence, '\0');
}

std::variant<json_document, field_problem> json_document::read(std::string_view body,
                                                               std::string_view opaque_key) {
  if (body.empty())
    return field_problem{"", "the body is empty: send one JSON object"};
  if (body.size() > UINT32_MAX)
    return field_problem{"", "the body is too large"};
  if (const auto nul = body.find('\0'); nul != std::string_view::npos)
    return field_problem{"", "NUL at octet " + std::to_string(nul + 1)};
  json_document made{body};
  made.nodes_.reserve(std::min<std::size_t>(body.size() / 16 + 8, 65'536));
  rapidjson::InsituStringStream stream{made.decoded_.data()};
  json_builder builder{made, stream, opaque_key};
  rapidjson::Reader reader;
  constexpr unsigned flags = rapidjson::kParseInsituFlag | rapidjson::kParseNumbersAsStringsFlag
                             | rapidjson::kParseValidateEncodingFlag;
  const auto parsed = reader.Parse<flags>(stream, builder);
  if (!parsed.IsError())
    return made;
  auto why = parsed.Code() == rapidjson::kParseErrorTermination
                 ? builder.problem()
                 : std::string{rapidjson::GetParseError_En(parsed.Code())};
  if (!why.empty() && why.back() == '.')
    why.pop_back();
  return field_problem{builder.pointer(),
                       why + ", at octet " + std::to_string(parsed.Offset() + 1)};
}

} // namespace paceline
