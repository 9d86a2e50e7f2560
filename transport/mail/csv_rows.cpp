#include "transport/mail/csv_rows.hpp"

#include <istream>
#include <string_view>

namespace paceline {
namespace {

constexpr std::size_t buffer_size = 64 * 1024;

} // namespace

csv_rows::csv_rows(std::istream& input) : input_(input), buffer_(buffer_size) {}

csv_rows::reading csv_rows::next() {
  if (position_ == 0 && filled_ == 0)
    skip_byte_order_mark();
  while (true) {
    row_.clear();
    row_size_ = 0;
    is_blank_ = true;
    place_ = place::cell_begin;
    row_line_ = line_;
    int octet = take();
    while (octet >= 0 && !step(static_cast<char>(octet)))
      octet = take();
    if (octet < 0 && input_.bad())
      return reading::read_failure;
    if (octet < 0 && place_ == place::in_quotes)
      return reading::open_quote;
    if (!is_blank_)
      return row_size_ > max_row ? reading::too_long : reading::row;
    if (octet < 0)
      return reading::end;
  }
}

bool csv_rows::fill() {
  if (!input_.good())
    return false;
  input_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  position_ = 0;
  filled_ = static_cast<std::size_t>(input_.gcount());
  return filled_ > 0;
}

int csv_rows::take() {
  if (position_ == filled_ && !fill())
    return -1;
  return static_cast<unsigned char>(buffer_[position_++]);
}

void csv_rows::skip_byte_order_mark() {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  if (fill() && std::string_view{buffer_.data(), filled_}.starts_with(mark))
    position_ = mark.size();
}

void csv_rows::add(char octet) {
  if (++row_size_ <= max_row)
    row_ += octet;
  if (octet != ' ' && octet != '\t')
    is_blank_ = false;
}

bool csv_rows::step(char octet) {
  bool pairs = octet == '\n' && after_return_; // CRLF is one line end
  after_return_ = octet == '\r';
  if ((octet == '\n' && !pairs) || octet == '\r')
    ++line_;
  if (place_ == place::in_quotes) {
    add(octet);
    if (octet == '"')
      place_ = place::after_quotes;
    return false;
  }
  if (pairs)
    return false; // the CR has ended the row
  if (octet == '\n' || octet == '\r')
    return true;
  add(octet);
  if (octet == '"' && place_ != place::in_cell)
    place_ = place::in_quotes;
  else if (octet == ',')
    place_ = place::cell_begin;
  else if ((octet != ' ' && octet != '\t') || place_ != place::cell_begin)
    place_ = place::in_cell;
  return false;
}

} // namespace paceline
