/// Cuts a stream into CSV rows, with the line on which each begins. Knows of quotes only what it
/// needs to find a row's end; libcsv reads the cells.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace paceline {

class csv_rows {
public:
  static constexpr std::size_t max_row = 1 << 20;

  /// `input` must outlive this.
  explicit csv_rows(std::istream& input);

  enum class reading {
    row,
    too_long,     ///< a row of more than 1 MiB, not kept
    end,          ///< nothing is left
    open_quote,   ///< the input ended within quotes
    read_failure, ///< the stream failed
  };
  /// The next row that is not blank, without its line end (LF, CRLF or CR), in `text`.
  reading next();
  const std::string& text() const { return row_; }
  /// Of the last row, counted from 1.
  std::int64_t line() const { return row_line_; }

private:
  enum class place {
    cell_begin,
    in_cell,
    in_quotes,
    after_quotes, ///< the cell has ended, unless another quote follows: then it was a doubled one
  };

  /// False at the end of the input.
  bool fill();
  /// The next octet, or -1 at the end.
  int take();
  void skip_byte_order_mark();
  void add(char octet);
  /// Whether the row ends with this octet.
  bool step(char octet);

  std::istream& input_;
  std::vector<char> buffer_;
  std::size_t position_ = 0, filled_ = 0;
  std::string row_;
  std::size_t row_size_ = 0; ///< also of what was not kept
  bool is_blank_ = true;
  place place_ = place::cell_begin;
  std::int64_t line_ = 1, row_line_ = 1;
  bool after_return_ = false; ///< the last octet was CR: an LF now belongs to it
};

} // namespace paceline
