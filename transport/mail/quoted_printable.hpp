/// Quoted-printable (RFC 2045, section 6.7), made from pieces: texts that were encoded once and
/// values that come with each message. Pure.
///
/// No line has more than 76 octets. Line breaks become CRLF, whether they came as CRLF, LF or CR.
/// Blanks before a line break are encoded, and so are a dot and `From ` at the begin of a line,
/// which careless relays alter. A soft line break may stand between any two encoded octets; so a
/// piece that does not fit in the line goes into the next one as it is.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace paceline {

/// A text encoded as it looks from the begin of a line on.
struct quoted_piece {
  std::string octets;
  std::size_t raw_size = 0;
  std::size_t first_line = 0; ///< octets before the first line break, without the `=` of a soft one
  std::size_t last_column = 0; ///< octets after the last line break
  bool has_break = false;      ///< a line break, soft or hard
  bool begins_in_lf = false;   ///< its first octet was LF, perhaps the other half of a CRLF
  bool begins_in_break = false;
  bool ends_in_cr = false;
  bool ends_in_blank = false;
};

quoted_piece encode_piece(std::string_view text);

/// Appends to a text that begins a line. The pieces together are read as one text: a character, a
/// CRLF or a row of blanks may lie across their borders.
class quoted_writer {
public:
  /// `out` outlives this.
  explicit quoted_writer(std::string& out) : out_(out) {}

  void text(std::string_view raw);
  void piece(const quoted_piece& encoded);
  /// Nothing more comes, and a line break will follow.
  void finish() { encode_last_blank(); }

  /// Octets before they were encoded.
  std::size_t raw_size() const { return raw_size_; }

private:
  friend quoted_piece encode_piece(std::string_view text);
  static constexpr std::size_t line_limit = 75; ///< one less than allowed, for the `=`

  void octet(char c, std::string_view rest);
  void encoded_octet(char c);
  void break_softly();
  void break_line();
  void encode_last_blank();

  std::string& out_;
  std::size_t column_ = 0;
  std::size_t raw_size_ = 0;
  bool after_cr_ = false;    ///< a CR was the last octet, and its line break is there
  bool after_blank_ = false; ///< the last octet in `out_` is a blank or tab as such
};

} // namespace paceline
