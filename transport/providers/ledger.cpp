#include "transport/providers/ledger.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <string_view>
#include <system_error>

#include "config/text.hpp"

namespace paceline {
namespace {

void append_field(std::string& line, std::string_view name, std::int64_t value) {
  char digits[24];
  auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
  static_cast<void>(error); // 24 characters hold every 64-bit number
  line += name;
  line.append(digits, end);
}

} // namespace

ledger::ledger(const std::string& path, const std::string& node, const std::string& route)
    : tail_(",\"node\":" + json_string(node) + ",\"route\":" + json_string(route)) {
  if (path.empty())
    return;
  constexpr mode_t readable = 0644;
  file_ = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, readable);
  if (file_ < 0)
    throw std::system_error(errno, std::generic_category(), "can't open ledger " + path);
}

ledger::~ledger() {
  if (file_ >= 0)
    ::close(file_);
}

bool ledger::append(const attempt& of, database_instant started, std::size_t recipients,
                    bool unanswered) {
  if (file_ < 0)
    return true;
  line_ = torn_ ? "\n" : "";
  append_field(line_, "{\"message\":", of.message.value());
  append_field(line_, ",\"version\":", of.version);
  append_field(line_, ",\"started_ns\":", started.time_since_epoch().count());
  append_field(line_, ",\"recipients\":", static_cast<std::int64_t>(recipients));
  line_ += tail_;
  if (unanswered)
    line_ += ",\"unanswered\":true";
  line_ += "}\n";
  ssize_t written = 0;
  do
    written = ::write(file_, line_.data(), line_.size());
  while (written < 0 && errno == EINTR);
  const bool whole = written == static_cast<ssize_t>(line_.size());
  if (written >= 0 && !whole)
    errno = ENOSPC; // a file takes a line in part only when the disk is full
  if (whole)
    torn_ = false;
  else if (written > 0)
    torn_ = true;
  return whole;
}

} // namespace paceline
