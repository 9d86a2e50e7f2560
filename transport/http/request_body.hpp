/// A request's body as it arrives: how much of it we may hold, and where it ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "transport/http/message.hpp"
#include "transport/http/server.hpp"

namespace paceline {

/// Bytes of one body, taken from the common budget one arrival at a time and given back with it.
class stored_body {
public:
  stored_body(body_budget& budget, std::size_t most) : budget_(budget), most_(most) {}
  ~stored_body() { clear(); }
  stored_body(const stored_body&) = delete;
  stored_body& operator=(const stored_body&) = delete;

  /// Refusals: 413 beyond `most`, 503 where the budget is used up. `expected` (bytes in all, 0 if
  /// unknown) only saves copying.
  std::optional<http_response> append(std::string_view bytes, std::size_t expected = 0);
  /// 413 where `more` bytes would be beyond `most`; takes nothing.
  std::optional<http_response> check_room(std::size_t more) const;
  void clear();
  void swap(stored_body& other); ///< both have the same budget

  const std::string& text() const { return text_; }
  /// Moves the bytes out. They stay counted until `clear`.
  std::string take() { return std::move(text_); }

private:
  body_budget& budget_;
  std::size_t most_;
  std::string text_;
  std::int64_t taken_ = 0;
};

/// Finds the end of a body: after Content-Length bytes, or behind the last chunk (RFC 9112, section
/// 7.1), whose extensions and trailers are read and dropped.
class body_reader {
public:
  /// `length` counts unless `chunked`.
  body_reader(bool chunked, std::size_t length);

  /// Takes from `bytes` what belongs to the body, and removes it there. The refusal of `into`, or
  /// 400 for broken chunks.
  std::optional<http_response> feed(std::string_view& bytes, stored_body& into);
  bool is_complete() const { return part_ == part::complete; }

private:
  enum class part { plain, size_line, data, data_end, trailer, complete };

  std::optional<http_response> feed_data(std::string_view& bytes, stored_body& into);
  std::optional<http_response> feed_line(std::string_view& bytes, const stored_body& into);
  std::optional<http_response> end_line(const stored_body& into);

  part part_;
  std::size_t left_;     ///< of the body, or of this chunk
  std::size_t expected_; ///< of the whole body, 0 if unknown
  std::string line_;     ///< the size line or trailer that is not complete
  std::size_t trailer_bytes_ = 0;
};

/// Unpacks gzip (RFC 1952). `into` bounds what comes out; 400 where it is no gzip or cut short.
std::optional<http_response> unpack_gzip(std::string_view packed, stored_body& into);

} // namespace paceline
