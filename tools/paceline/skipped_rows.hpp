/// What becomes of CSV rows that can't be used: the first ones on standard error, all of them in a
/// file if one was asked for, and their number.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

#include "storage/result.hpp"
#include "transport/mail/audience_csv.hpp"

namespace paceline {

class skipped_rows {
public:
  /// More lines would only hide what they say.
  static constexpr std::int64_t shown = 20;

  /// Opens `file` if it isn't empty.
  result<done> open(const std::string& file);
  void report(const skipped_row& row);
  /// Says how many there were beyond those shown, and checks that the file is whole.
  result<done> close();

private:
  std::string path_;
  std::ofstream file_;
  std::int64_t count_ = 0;
};

} // namespace paceline
