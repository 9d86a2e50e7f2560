#include "transport/aws/aws_time.hpp"

#include <algorithm>
#include <array>
#include <chrono>

namespace paceline {
namespace {

void append_padded(std::string& to, std::int64_t number, int digits) {
  std::string text(static_cast<std::size_t>(digits), '0');
  for (auto at = text.rbegin(); at != text.rend(); ++at, number /= 10)
    *at = static_cast<char>('0' + number % 10);
  to += text;
}

/// The decimal number in exactly these places; -1 if there is anything else.
int number_at(std::string_view text, std::size_t at, std::size_t digits) {
  int number = 0;
  for (std::size_t i = at; i < at + digits; ++i) {
    if (i >= text.size() || text[i] < '0' || text[i] > '9')
      return -1;
    number = 10 * number + (text[i] - '0');
  }
  return number;
}

std::optional<std::int64_t> seconds_of(int year, int month, int day, int hour, int minute,
                                       int second) {
  if (year < 0 || month < 1 || day < 1 || hour < 0 || hour > 23 || minute < 0 || minute > 59
      || second < 0 || second > 60)
    return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{year},
                                         std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (!date.ok())
    return std::nullopt;
  const std::int64_t days = std::chrono::sys_days{date}.time_since_epoch().count();
  return ((days * 24 + hour) * 60 + minute) * 60 + second;
}

} // namespace

std::int64_t unix_seconds_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string amz_date(std::int64_t unix_seconds) {
  const std::chrono::sys_seconds at{std::chrono::seconds{unix_seconds}};
  const auto midnight = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date{midnight};
  const auto second = (at - midnight).count();
  std::string text;
  text.reserve(16);
  append_padded(text, static_cast<int>(date.year()), 4);
  append_padded(text, static_cast<unsigned>(date.month()), 2);
  append_padded(text, static_cast<unsigned>(date.day()), 2);
  text += 'T';
  append_padded(text, second / 3600, 2);
  append_padded(text, second / 60 % 60, 2);
  append_padded(text, second % 60, 2);
  return text += 'Z';
}

std::optional<std::int64_t> read_http_date(std::string_view text) {
  static constexpr std::array<std::string_view, 12> months{
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  // Sun, 01 Mar 2026 10:20:00 GMT
  if (text.size() != 29 || text.substr(3, 2) != ", " || text[7] != ' ' || text[11] != ' '
      || text[16] != ' ' || text[19] != ':' || text[22] != ':' || text.substr(25) != " GMT")
    return std::nullopt;
  const auto month = std::find(months.begin(), months.end(), text.substr(8, 3));
  if (month == months.end())
    return std::nullopt;
  return seconds_of(number_at(text, 12, 4), static_cast<int>(month - months.begin()) + 1,
                    number_at(text, 5, 2), number_at(text, 17, 2), number_at(text, 20, 2),
                    number_at(text, 23, 2));
}

std::optional<std::int64_t> read_utc_time(std::string_view text) {
  if (text.size() < 20 || text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':'
      || text[16] != ':' || text.back() != 'Z')
    return std::nullopt;
  const auto fraction = text.substr(19, text.size() - 20);
  if (!fraction.empty()
      && (fraction[0] != '.' || fraction.size() == 1
          || fraction.find_first_not_of("0123456789", 1) != std::string_view::npos))
    return std::nullopt;
  return seconds_of(number_at(text, 0, 4), number_at(text, 5, 2), number_at(text, 8, 2),
                    number_at(text, 11, 2), number_at(text, 14, 2), number_at(text, 17, 2));
}

} // namespace paceline
