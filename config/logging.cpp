#include "config/logging.hpp"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <unistd.h>

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>

#include "config/text.hpp"

namespace paceline {
namespace {

/// Writes each formatted line with one call; a partial write is continued.
class descriptor_sink final : public spdlog::sinks::base_sink<std::mutex> {
public:
  explicit descriptor_sink(int descriptor) : descriptor_(descriptor) {}

protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    for (std::size_t done = 0; done < line.size();) {
      auto written = ::write(descriptor_, line.data() + done, line.size() - done);
      if (written > 0)
        done += static_cast<std::size_t>(written);
      else if (written == 0 || errno != EINTR)
        return; // nobody is left to tell
    }
  }
  void flush_() override {}

private:
  int descriptor_;
};

struct level_style {
  std::string_view name;
  std::string_view colour; // ANSI: grey, cyan, green, yellow, red
  spdlog::level::level_enum level;
};

const level_style& style_of(log_level level) {
  static constexpr level_style styles[] = {
      {"trace", "\x1b[90m", spdlog::level::trace}, {"debug", "\x1b[36m", spdlog::level::debug},
      {"info", "\x1b[32m", spdlog::level::info},   {"warn", "\x1b[33m", spdlog::level::warn},
      {"error", "\x1b[31m", spdlog::level::err},
  };
  return styles[static_cast<std::size_t>(level)];
}

template <class Number>
std::string digits(Number value) {
  char buffer[32];
  auto [end, failure] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, end};
}

std::string json_value(const log_field& field) {
  if (auto text = std::get_if<std::string>(&field.value))
    return json_string(*text);
  if (auto integer = std::get_if<std::int64_t>(&field.value))
    return digits(*integer);
  if (auto number = std::get_if<double>(&field.value))
    return std::isfinite(*number) ? digits(*number) : "null";
  return std::get<bool>(field.value) ? "true" : "false";
}

/// Text with spaces or quotes is quoted, so that a line can still be taken apart by eye.
std::string human_value(const log_field& field) {
  auto text = std::get_if<std::string>(&field.value);
  if (!text)
    return json_value(field);
  auto shown = printable(*text, 1000);
  bool plain = !shown.empty() && shown.find_first_of(" \"=") == std::string::npos;
  return plain ? shown : '"' + shown + '"';
}

bool is_reserved(std::string_view name) {
  return name == "time" || name == "level" || name == "message" || name == "event";
}

std::string json_line(log_level level, std::string_view text, bool is_event,
                      std::span<const log_field> fields) {
  std::string out{"\"level\":\""};
  out.append(style_of(level).name).append("\",\"message\":").append(json_string(text));
  if (is_event)
    out.append(",\"event\":").append(json_string(text));
  for (const auto& field : fields) {
    auto name = is_reserved(field.name) ? field.name + "_" : field.name;
    out.append(",").append(json_string(name)).append(":").append(json_value(field));
  }
  return out += '}';
}

std::string human_line(log_level level, std::string_view text, bool colours,
                       std::span<const log_field> fields) {
  constexpr std::size_t level_width = 5;
  const auto& style = style_of(level);
  std::string out;
  if (colours)
    out.append(style.colour).append(style.name).append("\x1b[0m");
  else
    out += style.name;
  out.append(level_width + 1 - style.name.size(), ' ').append(printable(text, 4000));
  for (const auto& field : fields)
    out.append(" ").append(printable(field.name)).append("=").append(human_value(field));
  return out;
}

/// https://no-color.org: set and not empty.
bool colours_are_refused() {
  const char* value = std::getenv("NO_COLOR");
  return value != nullptr && *value != '\0';
}

} // namespace

struct logger::state {
  state(log_level minimum, bool as_json, bool with_colours, int descriptor)
      : json(as_json), colours(with_colours),
        out("paceline", std::make_shared<descriptor_sink>(descriptor)) {
    out.set_level(style_of(minimum).level);
    out.set_error_handler([](const std::string&) {});
    // The text reaches spdlog as the %v of a line whose beginning is the time.
    auto pattern = json ? "{\"time\":\"%Y-%m-%dT%H:%M:%S.%eZ\",%v" : "%H:%M:%S.%e %v";
    auto zone = json ? spdlog::pattern_time_type::utc : spdlog::pattern_time_type::local;
    out.set_formatter(std::make_unique<spdlog::pattern_formatter>(pattern, zone));
  }

  bool json;
  bool colours;
  spdlog::logger out;
};

logger::logger(log_level minimum, log_format format, int descriptor) {
  bool terminal = ::isatty(descriptor) == 1;
  bool json = format == log_format::json || (format == log_format::automatic && !terminal);
  state_ = std::make_unique<state>(minimum, json, terminal && !colours_are_refused(), descriptor);
}

logger::~logger() = default;

bool logger::is_enabled(log_level level) const noexcept {
  return state_->out.should_log(style_of(level).level);
}

void logger::set_level(log_level minimum) noexcept {
  state_->out.set_level(style_of(minimum).level);
}

void logger::write(log_level level, std::string_view text, bool is_event,
                   std::span<const log_field> fields) noexcept {
  if (!is_enabled(level))
    return;
  try {
    auto line = state_->json ? json_line(level, text, is_event, fields)
                             : human_line(level, text, state_->colours, fields);
    state_->out.log(style_of(level).level, spdlog::string_view_t{line});
  } catch (...) { // out of memory: work goes on without this line
  }
}

void logger::event(log_level level, std::string_view name,
                   std::span<const log_field> fields) noexcept {
  write(level, name, true, fields);
}

void logger::event(log_level level, std::string_view name,
                   std::initializer_list<log_field> fields) noexcept {
  write(level, name, true, {fields.begin(), fields.size()});
}

void logger::debug(std::string_view text, std::initializer_list<log_field> fields) noexcept {
  write(log_level::debug, text, false, {fields.begin(), fields.size()});
}

void logger::info(std::string_view text, std::initializer_list<log_field> fields) noexcept {
  write(log_level::info, text, false, {fields.begin(), fields.size()});
}

void logger::info(std::string_view text, std::span<const log_field> fields) noexcept {
  write(log_level::info, text, false, fields);
}

void logger::warn(std::string_view text, std::initializer_list<log_field> fields) noexcept {
  write(log_level::warn, text, false, {fields.begin(), fields.size()});
}

void logger::error(std::string_view text, std::initializer_list<log_field> fields) noexcept {
  write(log_level::error, text, false, {fields.begin(), fields.size()});
}

} // namespace paceline
