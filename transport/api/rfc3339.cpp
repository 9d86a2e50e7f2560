#include "transport/api/rfc3339.hpp"

#include <chrono>

namespace paceline {
namespace {

constexpr int max_offset_minutes = 14 * 60;
constexpr std::size_t longest = 64; ///< a fraction of some 40 digits: nobody needs more

/// Takes fixed-width numbers and separators from the front.
class time_text {
public:
  explicit time_text(std::string_view text) : rest_(text) {}

  /// `digits` digits; below 0: they are not there.
  int number(std::size_t digits) {
    if (rest_.size() < digits)
      return fail();
    int value = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      if (rest_[i] < '0' || rest_[i] > '9')
        return fail();
      value = value * 10 + (rest_[i] - '0');
    }
    rest_.remove_prefix(digits);
    return value;
  }
  bool take(std::string_view one_of) {
    if (rest_.empty() || one_of.find(rest_.front()) == std::string_view::npos)
      return false;
    taken_ = rest_.front();
    rest_.remove_prefix(1);
    return true;
  }
  void expect(std::string_view one_of) {
    if (!take(one_of))
      fail();
  }
  /// `.` and digits, if they are there.
  std::int64_t fraction_us() {
    if (!take("."))
      return 0;
    std::int64_t us = 0, unit = 100'000;
    bool any = false;
    while (!rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9') {
      us += (rest_.front() - '0') * unit;
      unit /= 10;
      rest_.remove_prefix(1);
      any = true;
    }
    if (!any)
      fail();
    return us;
  }
  char taken() const { return taken_; }
  bool is_at_end() const { return rest_.empty(); }
  bool has_failed() const { return failed_; }

private:
  int fail() {
    failed_ = true;
    return -1;
  }
  std::string_view rest_;
  char taken_ = 0;
  bool failed_ = false;
};

} // namespace

time_reading read_rfc3339(std::string_view text) {
  const time_reading no_time{std::nullopt, "is no time"};
  if (text.size() > longest)
    return no_time;
  time_text from{text};
  const int year = from.number(4);
  from.expect("-");
  const int month = from.number(2);
  from.expect("-");
  const int day = from.number(2);
  from.expect("Tt ");
  const int hour = from.number(2);
  from.expect(":");
  const int minute = from.number(2);
  from.expect(":");
  const int second = from.number(2);
  const auto fraction = from.fraction_us();
  if (from.has_failed())
    return no_time;
  if (from.is_at_end())
    return {std::nullopt, "has no offset"};
  int offset = 0, offset_minute = 0;
  if (!from.take("Zz")) {
    from.expect("+-");
    const int sign = from.taken() == '-' ? -1 : 1;
    const int offset_hour = from.number(2);
    from.expect(":");
    offset_minute = from.number(2);
    offset = sign * (offset_hour * 60 + offset_minute);
  }
  if (from.has_failed() || !from.is_at_end())
    return no_time;
  if (offset_minute > 59 || offset < -max_offset_minutes || offset > max_offset_minutes)
    return {std::nullopt, "has an offset outside of -14:00 to +14:00"};
  using namespace std::chrono;
  const year_month_day date{std::chrono::year{year},
                            std::chrono::month(static_cast<unsigned>(month)),
                            std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok() || hour > 23 || minute > 59 || second > 60)
    return {std::nullopt, "is a time that does not exist"};
  if (year < 1970)
    return {std::nullopt, "is before 1970"};
  const auto since_epoch =
      sys_days{date}.time_since_epoch() + hours{hour} + minutes{minute - offset} + seconds{second};
  return {duration_cast<microseconds>(since_epoch).count() + fraction, {}};
}

} // namespace paceline
