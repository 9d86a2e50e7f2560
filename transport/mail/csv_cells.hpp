/// Splits one CSV row into cells with libcsv, strictly: a quote inside a bare cell, or text after a
/// closing quote, is an error. Blanks around a cell are dropped unless they are within its quotes.
#pragma once

#include <csv.h>

#include <string>
#include <string_view>
#include <vector>

namespace paceline {

class csv_cells {
public:
  /// Keeps at most `most` cells of a row; more are only counted.
  explicit csv_cells(std::size_t most);
  ~csv_cells();
  csv_cells(const csv_cells&) = delete;
  csv_cells& operator=(const csv_cells&) = delete;

  /// False if the row's quotes are wrong.
  bool split(std::string_view row);
  /// How many cells the row has.
  std::size_t count() const { return count_; }
  /// Those kept.
  const std::vector<std::string>& kept() const { return cells_; }

private:
  void restart();
  static void take_cell(void* text, std::size_t size, void* self);

  csv_parser parser_;
  std::size_t most_;
  std::size_t count_ = 0;
  std::vector<std::string> cells_;
};

} // namespace paceline
