/// Replies of an SMTP server (RFC 5321, section 4.2), put together from what the connection brings.
/// Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace paceline {

struct smtp_reply {
  int code = 0;         ///< 200 to 599
  std::string enhanced; ///< `4.7.1` (RFC 3463), of the first line that has one; empty: none
  std::string text;     ///< its lines without codes, joined by blanks; at most 500 octets
  bool is_positive() const { return code < 400; }
  /// `451 4.7.1 try later`, for diagnostics.
  std::string line() const;
};

class smtp_reply_reader {
public:
  static constexpr std::size_t max_line = 4096; ///< the RFC allows 512
  static constexpr std::size_t max_lines = 128; ///< of one reply

  void feed(std::string_view octets) { input_ += octets; }
  /// The next whole reply. Nothing: feed more, or `is_broken`.
  std::optional<smtp_reply> next();
  /// What came is no SMTP, or longer than the bounds.
  bool is_broken() const { return broken_; }

private:
  bool take_line(std::string_view line);

  std::string input_;
  smtp_reply open_; ///< lines so far
  std::size_t lines_ = 0;
  bool broken_ = false;
};

} // namespace paceline
