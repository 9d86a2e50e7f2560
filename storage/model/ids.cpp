#include "storage/model/ids.hpp"

#include <algorithm>

namespace paceline {
namespace {

constexpr std::int64_t first_ms = 1'704'067'200'000; // 2024-01-01T00:00:00Z
constexpr std::int32_t ids_per_ms = 4096;            // 12 bits of sequence
constexpr std::size_t max_name = 63;

bool is_name(std::string_view text) {
  auto alphanumeric = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !text.empty() && text.size() <= max_name && alphanumeric(text.front())
         && std::all_of(text.begin(), text.end(),
                        [&](char c) { return alphanumeric(c) || c == '-'; });
}

} // namespace

std::optional<route_name> route_name::parse(std::string_view text) {
  auto colon = text.find(':');
  if (colon == std::string_view::npos)
    return std::nullopt;
  auto environment = text.substr(0, colon), region = text.substr(colon + 1);
  if (!is_name(environment) || !is_name(region))
    return std::nullopt;
  return route_name{std::string{environment}, std::string{region}};
}

std::string shard_name::text() const {
  return route.text() + ":" + std::to_string(index) + "/" + std::to_string(count);
}

std::int64_t id_source::next(std::int64_t unix_ms) {
  if (unix_ms > last_ms_) {
    last_ms_ = unix_ms;
    sequence_ = 0;
  } else if (++sequence_ == ids_per_ms) {
    ++last_ms_;
    sequence_ = 0;
  }
  return ((last_ms_ - first_ms) << 22) | (std::int64_t{lane_} << 12) | sequence_;
}

} // namespace paceline
