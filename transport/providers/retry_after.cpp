#include "transport/providers/retry_after.hpp"

#include <algorithm>
#include <array>

namespace paceline {
namespace {

using namespace std::chrono;

constexpr std::array<std::string_view, 12> month_names{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<std::string_view, 7> day_names{"Monday", "Tuesday",  "Wednesday", "Thursday",
                                                    "Friday", "Saturday", "Sunday"};
constexpr int years_ahead = 50; ///< of a two-digit year, at most

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// What a date says, before it is known whether there is such a day.
struct civil_time {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  bool has_century = true;
};

/// Takes fixed pieces off the front of a text; the first that does not fit spoils all.
class date_reader {
public:
  explicit date_reader(std::string_view text) : rest_(text) {}

  void literal(std::string_view expected) {
    if (!rest_.starts_with(expected))
      return fail();
    rest_.remove_prefix(expected.size());
  }

  int number(std::size_t digits) {
    if (rest_.size() < digits || !std::all_of(rest_.begin(), rest_.begin() + digits, is_digit))
      return fail(), 0;
    int value = 0;
    for (const char digit : rest_.substr(0, digits))
      value = value * 10 + (digit - '0');
    rest_.remove_prefix(digits);
    return value;
  }

  /// A day with a blank in place of its first digit.
  int padded_day() {
    if (!rest_.starts_with(' '))
      return number(2);
    rest_.remove_prefix(1);
    return number(1);
  }

  int month() {
    const auto found = std::find(month_names.begin(), month_names.end(), rest_.substr(0, 3));
    if (found == month_names.end())
      return fail(), 0;
    rest_.remove_prefix(3);
    return static_cast<int>(found - month_names.begin()) + 1;
  }

  /// Any day's name, whole or its first three letters: the date itself is clear without it.
  void day_name(bool whole) {
    for (const auto name : day_names) {
      const auto expected = whole ? name : name.substr(0, 3);
      if (!rest_.starts_with(expected))
        continue;
      rest_.remove_prefix(expected.size());
      return;
    }
    fail();
  }

  void time_of_day(civil_time& into) {
    into.hour = number(2);
    literal(":");
    into.minute = number(2);
    literal(":");
    into.second = number(2);
  }

  bool is_done() const { return sound_ && rest_.empty(); }

private:
  void fail() { sound_ = false; }

  std::string_view rest_;
  bool sound_ = true;
};

/// `Sun, 06 Nov 1994 08:49:37 GMT`
std::optional<civil_time> read_fixdate(std::string_view text) {
  date_reader from{text};
  civil_time read;
  from.day_name(false);
  from.literal(", ");
  read.day = from.number(2);
  from.literal(" ");
  read.month = from.month();
  from.literal(" ");
  read.year = from.number(4);
  from.literal(" ");
  from.time_of_day(read);
  from.literal(" GMT");
  return from.is_done() ? std::optional{read} : std::nullopt;
}

/// `Sunday, 06-Nov-94 08:49:37 GMT`
std::optional<civil_time> read_rfc850(std::string_view text) {
  date_reader from{text};
  civil_time read;
  from.day_name(true);
  from.literal(", ");
  read.day = from.number(2);
  from.literal("-");
  read.month = from.month();
  from.literal("-");
  read.year = from.number(2);
  read.has_century = false;
  from.literal(" ");
  from.time_of_day(read);
  from.literal(" GMT");
  return from.is_done() ? std::optional{read} : std::nullopt;
}

/// `Sun Nov  6 08:49:37 1994`
std::optional<civil_time> read_asctime(std::string_view text) {
  date_reader from{text};
  civil_time read;
  from.day_name(false);
  from.literal(" ");
  read.month = from.month();
  from.literal(" ");
  read.day = from.padded_day();
  from.literal(" ");
  from.time_of_day(read);
  from.literal(" ");
  read.year = from.number(4);
  return from.is_done() ? std::optional{read} : std::nullopt;
}

/// Nothing where there is no such day or time. A leap second reads as the second after it.
std::optional<std::int64_t> since_epoch(const civil_time& at) {
  const year_month_day date{year{at.year}, month{static_cast<unsigned>(at.month)},
                            day{static_cast<unsigned>(at.day)}};
  if (!date.ok() || at.hour > 23 || at.minute > 59 || at.second > 60)
    return std::nullopt;
  const auto days = sys_days{date}.time_since_epoch();
  return (seconds{days} + hours{at.hour} + minutes{at.minute} + seconds{at.second}).count();
}

int year_of(std::int64_t now) {
  const year_month_day date{floor<days>(sys_seconds{seconds{now}})};
  return static_cast<int>(date.year());
}

} // namespace

std::optional<std::int64_t> parse_http_date(std::string_view text, std::int64_t now) {
  auto read = read_fixdate(text);
  if (!read)
    read = read_rfc850(text);
  if (!read)
    read = read_asctime(text);
  if (!read)
    return std::nullopt;
  if (!read->has_century) {
    const int current = year_of(now);
    read->year += current / 100 * 100 + 100;
    while (read->year > current + years_ahead)
      read->year -= 100;
  }
  return since_epoch(*read);
}

std::optional<std::chrono::seconds> parse_retry_after(std::string_view value, std::int64_t now) {
  const auto first = value.find_first_not_of(" \t");
  if (first == std::string_view::npos)
    return std::nullopt;
  value = value.substr(first, value.find_last_not_of(" \t") - first + 1);
  if (std::all_of(value.begin(), value.end(), is_digit)) {
    std::int64_t delay = 0;
    for (const char digit : value)
      delay = std::min<std::int64_t>(max_retry_after.count(), delay * 10 + (digit - '0'));
    return seconds{delay};
  }
  const auto when = parse_http_date(value, now);
  if (!when)
    return std::nullopt;
  return seconds{std::clamp<std::int64_t>(*when - now, 0, max_retry_after.count())};
}

} // namespace paceline
