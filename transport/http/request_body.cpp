#include "transport/http/request_body.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <utility>

#include "transport/http/problem.hpp"

namespace paceline {
namespace {

std::optional<http_response> broken_chunk() {
  return problem(400, "malformed_request", "The chunked body is malformed.");
}

} // namespace

bool body_budget::take(std::int64_t bytes) {
  auto free = free_.load(std::memory_order_relaxed);
  do {
    if (free < bytes)
      return false;
  } while (!free_.compare_exchange_weak(free, free - bytes, std::memory_order_relaxed));
  return true;
}

void body_budget::give(std::int64_t bytes) {
  free_.fetch_add(bytes, std::memory_order_relaxed);
}

std::optional<http_response> stored_body::check_room(std::size_t more) const {
  if (more <= most_ - text_.size())
    return {};
  return problem(413, "body_too_large",
                 "The body may have at most " + std::to_string(most_) + " bytes.");
}

std::optional<http_response> stored_body::append(std::string_view bytes, std::size_t expected) {
  if (auto wrong = check_room(bytes.size()))
    return wrong;
  auto count = static_cast<std::int64_t>(bytes.size());
  if (!budget_.take(count)) {
    auto full = problem(503, "overloaded", "Too many large requests at once; try again soon.");
    full.headers.emplace_back("Retry-After", "1");
    return full;
  }
  taken_ += count;
  auto needed = text_.size() + bytes.size();
  // The claimed length alone must not make us hold memory: grow with what has come.
  if (needed > text_.capacity())
    text_.reserve(std::max(needed, std::min(expected, 2 * needed)));
  text_.append(bytes);
  return {};
}

void stored_body::clear() {
  budget_.give(std::exchange(taken_, 0));
  text_ = std::string();
}

void stored_body::swap(stored_body& other) {
  text_.swap(other.text_);
  std::swap(taken_, other.taken_);
}

body_reader::body_reader(bool chunked, std::size_t length)
    : part_(chunked ? part::size_line : (length > 0 ? part::plain : part::complete)),
      left_(chunked ? 0 : length), expected_(left_) {}

std::optional<http_response> body_reader::feed(std::string_view& bytes, stored_body& into) {
  while (!bytes.empty() && part_ != part::complete) {
    bool is_data = part_ == part::plain || part_ == part::data;
    if (auto wrong = is_data ? feed_data(bytes, into) : feed_line(bytes, into))
      return wrong;
  }
  return {};
}

std::optional<http_response> body_reader::feed_data(std::string_view& bytes, stored_body& into) {
  auto piece = bytes.substr(0, left_);
  if (auto wrong = into.append(piece, expected_))
    return wrong;
  bytes.remove_prefix(piece.size());
  left_ -= piece.size();
  if (left_ == 0)
    part_ = part_ == part::plain ? part::complete : part::data_end;
  return {};
}

std::optional<http_response> body_reader::feed_line(std::string_view& bytes,
                                                    const stored_body& into) {
  constexpr std::size_t longest_line = 1024, most_trailers = 8192;
  auto newline = bytes.find('\n');
  auto piece = bytes.substr(0, newline);
  bytes.remove_prefix(newline == std::string_view::npos ? bytes.size() : newline + 1);
  if (part_ == part::trailer && (trailer_bytes_ += piece.size() + 1) > most_trailers)
    return broken_chunk();
  if (line_.size() + piece.size() > longest_line)
    return broken_chunk();
  line_ += piece;
  if (newline == std::string_view::npos)
    return {};
  if (line_.empty() || line_.back() != '\r')
    return broken_chunk();
  line_.pop_back();
  if (line_.find_first_of(std::string_view("\r\0", 2)) != std::string::npos)
    return broken_chunk();
  auto wrong = end_line(into);
  line_.clear();
  return wrong;
}

std::optional<http_response> body_reader::end_line(const stored_body& into) {
  switch (part_) {
  case part::data_end:
    part_ = part::size_line;
    return line_.empty() ? std::nullopt : broken_chunk();
  case part::trailer:
    if (line_.empty())
      part_ = part::complete;
    return {};
  case part::size_line: {
    auto digits = std::min(line_.find_first_of("; \t"), line_.size());
    constexpr std::size_t most_digits = 15; // Fits into 64 bits whatever the digits are.
    auto [end, wrong] = std::from_chars(line_.data(), line_.data() + digits, left_, 16);
    if (digits == 0 || digits > most_digits || wrong != std::errc{} || end != line_.data() + digits)
      return broken_chunk();
    part_ = left_ == 0 ? part::trailer : part::data;
    return into.check_room(left_);
  }
  case part::plain:
  case part::data:
  case part::complete:
    return {};
  }
  return {};
}

std::optional<http_response> unpack_gzip(std::string_view packed, stored_body& into) {
  z_stream state{};
  constexpr int gzip_only = 16 + MAX_WBITS;
  if (inflateInit2(&state, gzip_only) != Z_OK)
    return problem(500, "internal", "The body can't be unpacked.");
  std::unique_ptr<z_stream, int (*)(z_stream*)> closing(&state, &inflateEnd);
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  state.avail_in = static_cast<uInt>(packed.size());
  std::array<char, 16384> piece;
  for (int end = Z_OK; end != Z_STREAM_END;) {
    state.next_out = reinterpret_cast<Bytef*>(piece.data());
    state.avail_out = static_cast<uInt>(piece.size());
    end = inflate(&state, Z_NO_FLUSH);
    if (end != Z_OK && end != Z_STREAM_END)
      return problem(400, "malformed_body", "The body is no complete gzip stream.");
    if (auto wrong = into.append({piece.data(), piece.size() - state.avail_out}))
      return wrong;
  }
  if (state.avail_in != 0)
    return problem(400, "malformed_body", "Something follows the gzip stream of the body.");
  return {};
}

} // namespace paceline
