/// Arguments of commands: durations, ids, fields, files. Errors are `invalid` and name what was
/// given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/model/instants.hpp"
#include "storage/result.hpp"

namespace paceline {

/// `500ms`, `30s`, `10m`, `1h30m`, `2d`: whole numbers with units, above 0, at most 366 days.
result<nanoseconds> parse_duration(std::string_view text);

/// A positive decimal number that fits 63 bits.
result<std::int64_t> parse_id(std::string_view text, std::string_view what);

template <class Id>
result<Id> parse_id_as(std::string_view text, std::string_view what) {
  auto number = parse_id(text, what);
  if (!number)
    return number.failure();
  return Id{*number};
}

/// `name=value` pairs as a JSON object of texts. A name must not be empty or given twice;
/// everything must be UTF-8.
result<std::string> fields_json(const std::vector<std::string>& pairs);

/// The whole file, which must be UTF-8 text without NUL and at most 1 MiB; a byte order mark is
/// dropped. `-` is standard input.
result<std::string> read_text_file(const std::string& path);

/// Its octets, at most `most` of them. `-` is standard input.
result<std::string> read_file(const std::string& path, std::size_t most);

/// Without the line end that editors put behind the last line.
std::string without_line_end(std::string text);

} // namespace paceline
