#include "tools/paceline/skipped_rows.hpp"

#include <cerrno>
#include <cstring>

#include "config/text.hpp"
#include "tools/paceline/output.hpp"

namespace paceline {

result<done> skipped_rows::open(const std::string& file) {
  path_ = file;
  if (path_.empty())
    return done{};
  file_.open(path_, std::ios::binary | std::ios::trunc);
  if (!file_)
    return error{error_kind::invalid,
                 "Can't write " + printable(path_) + ": " + std::strerror(errno) + "."};
  return done{};
}

void skipped_rows::report(const skipped_row& row) {
  const auto line = "line " + std::to_string(row.line) + ": " + printable(row.why, 300);
  if (++count_ <= shown)
    say("skipped " + line);
  if (file_.is_open())
    file_ << line << '\n';
}

result<done> skipped_rows::close() {
  if (count_ > shown)
    say("skipped " + counted(count_ - shown, "more row", "more rows")
        + (path_.empty() ? "; --skipped-file FILE writes all of them"
                         : "; all are in " + printable(path_)));
  if (!file_.is_open())
    return done{};
  file_.close();
  if (file_.fail())
    return error{error_kind::refused, "Can't write " + printable(path_) + " to its end."};
  return done{};
}

} // namespace paceline
