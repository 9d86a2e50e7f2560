#include "transport/mail/quoted_printable.hpp"

namespace paceline {
namespace {

constexpr std::string_view hexadecimal = "0123456789ABCDEF";

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

bool stands_for_itself(char c) {
  return (c > ' ' && c < 0x7f && c != '=') || is_blank(c);
}

/// Mailboxes in one file mark a message's begin by `From `. A text that ends in the middle of it
/// may go on with the rest.
bool may_begin_from(std::string_view rest) {
  constexpr std::string_view from = "From ";
  return rest.substr(0, from.size()) == from.substr(0, rest.size());
}

} // namespace

void quoted_writer::break_softly() {
  out_ += "=\r\n";
  column_ = 0;
  after_blank_ = false;
}

void quoted_writer::break_line() {
  encode_last_blank();
  out_ += "\r\n";
  column_ = 0;
}

void quoted_writer::encode_last_blank() {
  if (!after_blank_)
    return;
  const char blank = out_.back();
  out_.pop_back();
  --column_;
  after_blank_ = false;
  encoded_octet(blank);
}

void quoted_writer::encoded_octet(char c) {
  if (column_ + 3 > line_limit)
    break_softly();
  const auto value = static_cast<unsigned char>(c);
  const char code[] = {'=', hexadecimal[value >> 4], hexadecimal[value & 15]};
  out_.append(code, sizeof code);
  column_ += sizeof code;
  after_blank_ = false;
}

void quoted_writer::octet(char c, std::string_view rest) {
  if (!stands_for_itself(c))
    return encoded_octet(c);
  if (column_ + 1 > line_limit)
    break_softly();
  if (column_ == 0 && (c == '.' || (c == 'F' && may_begin_from(rest))))
    return encoded_octet(c);
  out_ += c;
  ++column_;
  after_blank_ = is_blank(c);
}

void quoted_writer::text(std::string_view raw) {
  raw_size_ += raw.size();
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const char c = raw[i];
    const bool ends_crlf = after_cr_ && c == '\n';
    after_cr_ = c == '\r';
    if (ends_crlf)
      continue; // its line break came with the CR
    if (c == '\r' || c == '\n')
      break_line();
    else
      octet(c, raw.substr(i));
  }
}

void quoted_writer::piece(const quoted_piece& encoded) {
  if (encoded.raw_size == 0)
    return;
  raw_size_ += encoded.raw_size;
  std::string_view octets{encoded.octets};
  auto first_line = encoded.first_line;
  if (after_cr_ && encoded.begins_in_lf) {
    octets.remove_prefix(2);
    first_line = 0; // the line begins here, so what follows fits
  } else if (encoded.begins_in_break) {
    encode_last_blank();
  }
  if (column_ + first_line > line_limit)
    break_softly();
  out_ += octets;
  column_ = encoded.last_column + (encoded.has_break ? 0 : column_);
  after_cr_ = encoded.ends_in_cr;
  after_blank_ = encoded.ends_in_blank;
}

quoted_piece encode_piece(std::string_view text) {
  quoted_piece made;
  quoted_writer writer{made.octets};
  writer.text(text);
  made.octets.shrink_to_fit();
  made.raw_size = text.size();
  const auto line_end = made.octets.find("\r\n");
  made.has_break = line_end != std::string::npos;
  made.first_line = made.has_break ? line_end : made.octets.size();
  if (made.has_break && line_end > 0 && made.octets[line_end - 1] == '=')
    --made.first_line;
  made.last_column = writer.column_;
  made.begins_in_lf = text.starts_with('\n');
  made.begins_in_break = made.begins_in_lf || text.starts_with('\r');
  made.ends_in_cr = writer.after_cr_;
  made.ends_in_blank = writer.after_blank_;
  return made;
}

} // namespace paceline
