/// Reads an audience from CSV (RFC 4180) as a stream: header first, one recipient a row.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/campaigns.hpp"
#include "storage/result.hpp"

namespace paceline {

/// A row that can't be used: reported and skipped.
struct skipped_row {
  std::int64_t line = 0; ///< 1-based line of the file where the row begins
  std::string why;
};

/// Streams members of a UTF-8 CSV file. Memory is bounded by one row (at most 1 MiB) plus the set
/// of addresses seen.
///
/// The header must name each column once and contain `email` (any case; the address). Every other
/// column is a field; an empty cell is a missing field. A byte order mark is accepted. Rows are
/// skipped and reported for: a bad or duplicate address, too many or too few cells, invalid UTF-8,
/// NUL, a row longer than 1 MiB. Errors that end the reading (`invalid`, naming the line): no
/// header, no `email` column, duplicate or empty column names, more than 200 columns, a file in
/// UTF-16/32 or with an invalid header, an unterminated quote, read failure.
class audience_csv {
public:
  using report_function = std::function<void(const skipped_row&)>;
  /// `input` must outlive the reader.
  audience_csv(std::istream& input, report_function skipped);
  ~audience_csv();

  /// The next usable member, nothing at the end.
  result<std::optional<audience_member>> next();
  std::int64_t read() const;    ///< data rows seen so far
  std::int64_t skipped() const; ///< of those, not usable

private:
  class impl;
  std::unique_ptr<impl> impl_;
};

} // namespace paceline
