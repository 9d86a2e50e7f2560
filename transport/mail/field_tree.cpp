#include "transport/mail/field_tree.hpp"

#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/encodedstream.h>
#include <rapidjson/reader.h>

#include <string>
#include <utility>
#include <vector>

namespace paceline {
namespace {

namespace mustache = kainjow::mustache;

constexpr std::size_t max_depth = 32;

/// Builds the tree while RapidJSON reads, without a document in between.
class tree_builder : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, tree_builder> {
public:
  bool Null() { return put(mustache::data{false}); }
  bool Bool(bool value) {
    return value ? put(mustache::data{std::string{"true"}}) : put(mustache::data{false});
  }
  bool RawNumber(const char* text, rapidjson::SizeType size, bool) {
    return put(mustache::data{std::string{text, size}});
  }
  bool String(const char* text, rapidjson::SizeType size, bool) {
    return size == 0 ? put(mustache::data{false}) : put(mustache::data{std::string{text, size}});
  }
  bool Key(const char* text, rapidjson::SizeType size, bool) {
    open_.back().key.assign(text, size);
    return true;
  }
  bool StartObject() { return open(mustache::data{mustache::data::type::object}); }
  bool StartArray() { return !open_.empty() && open(mustache::data{mustache::data::type::list}); }
  bool EndObject(rapidjson::SizeType) { return close(); }
  bool EndArray(rapidjson::SizeType) { return close(); }
  /// Every other value: RapidJSON's numbers come as RawNumber.
  bool Default() { return false; }

  mustache::data take() { return std::move(root_); }

private:
  struct level {
    mustache::data value;
    std::vector<mustache::data> items; ///< of a list: the engine's own only grows by copies
    std::string key;                   ///< of the member to come
  };

  bool open(mustache::data value) {
    if (open_.size() >= max_depth)
      return false;
    open_.push_back(level{std::move(value), {}, {}});
    return true;
  }

  bool close() {
    auto done = std::move(open_.back());
    open_.pop_back();
    if (done.value.is_list())
      done.value = mustache::data{done.items};
    if (!open_.empty())
      return put(std::move(done.value));
    root_ = std::move(done.value);
    return true;
  }

  bool put(mustache::data value) {
    if (open_.empty())
      return false; // the whole text is one value, not an object
    auto& parent = open_.back();
    if (parent.value.is_list())
      parent.items.push_back(std::move(value));
    else
      parent.value[parent.key] = std::move(value);
    return true;
  }

  std::vector<level> open_;
  mustache::data root_;
};

} // namespace

result<mustache::data> read_fields(std::string_view json) {
  rapidjson::MemoryStream memory{json.data(), json.size()};
  rapidjson::EncodedInputStream<rapidjson::UTF8<>, rapidjson::MemoryStream> stream{memory};
  rapidjson::Reader reader;
  tree_builder tree;
  // Iterative: the depth of the input must not become the depth of our stack.
  constexpr unsigned flags = rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag
                             | rapidjson::kParseValidateEncodingFlag;
  auto parsed = reader.Parse<flags>(stream, tree);
  if (parsed.IsError())
    return error{error_kind::invalid,
                 parsed.Code() == rapidjson::kParseErrorTermination
                     ? "fields must be a JSON object, at most 32 levels deep"
                     : std::string{"fields: "} + rapidjson::GetParseError_En(parsed.Code())};
  return tree.take();
}

} // namespace paceline
