/// What the program says while it runs: one line per event on standard error, for people on a
/// terminal and as JSON for machines otherwise.
///
/// A JSON line has `time` (UTC, RFC 3339), `level`, `message`, for events also `event`, and every
/// field at top level. Callers keep bodies, secrets and whole addresses out (`mask_address`).
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace paceline {

enum class log_level { trace, debug, info, warn, error };

/// `automatic` is human on a terminal and JSON otherwise.
enum class log_format { automatic, human, json };

/// One named value of a log line. Names are snake_case; `time`, `level`, `message` and `event` are
/// the line's own, a field of such a name gets an underscore at its end.
struct log_field {
  std::string name;
  std::variant<std::string, std::int64_t, double, bool> value;

  log_field(std::string_view key, std::string_view text) : name(key), value(std::string{text}) {}
  log_field(std::string_view key, const char* text) : name(key), value(std::string{text}) {}
  log_field(std::string_view key, const std::string& text) : name(key), value(text) {}
  template <std::same_as<bool> Flag>
  log_field(std::string_view key, Flag flag) : name(key), value(flag) {}
  /// Above the range of int64 the value is its largest.
  template <std::integral Integer>
  requires(!std::same_as<Integer, bool>) log_field(std::string_view key, Integer number)
      : name(key),
        value(std::in_range<std::int64_t>(number) ? static_cast<std::int64_t>(number)
                                                  : std::numeric_limits<std::int64_t>::max()) {}
  /// What is not finite is shown as null.
  template <std::floating_point Number>
  log_field(std::string_view key, Number number) : name(key), value(static_cast<double>(number)) {}
};

/// Writes log lines, one `write` each, so that lines of several threads and processes don't mix.
/// Thread-safe; `main` owns it and everybody else holds a reference. Never throws: a line that
/// can't be written is dropped.
class logger {
public:
  /// Lines below `minimum` are dropped. `descriptor` stays the caller's and must stay open.
  logger(log_level minimum, log_format format, int descriptor = 2);
  ~logger();
  logger(const logger&) = delete;
  logger& operator=(const logger&) = delete;

  bool is_enabled(log_level level) const noexcept;
  /// From the next line on; any thread.
  void set_level(log_level minimum) noexcept;

  /// A structured event, e.g. `event(log_level::info, "DISPATCH_RUN", {{"claimed", 24}})`.
  void event(log_level level, std::string_view name, std::span<const log_field> fields) noexcept;
  void event(log_level level, std::string_view name,
             std::initializer_list<log_field> fields = {}) noexcept;

  void debug(std::string_view text, std::initializer_list<log_field> fields = {}) noexcept;
  void info(std::string_view text, std::initializer_list<log_field> fields = {}) noexcept;
  void info(std::string_view text, std::span<const log_field> fields) noexcept;
  void warn(std::string_view text, std::initializer_list<log_field> fields = {}) noexcept;
  void error(std::string_view text, std::initializer_list<log_field> fields = {}) noexcept;

private:
  void write(log_level level, std::string_view text, bool is_event,
             std::span<const log_field> fields) noexcept;

  struct state;
  std::unique_ptr<state> state_;
};

} // namespace paceline
