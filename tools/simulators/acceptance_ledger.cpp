#include "tools/simulators/acceptance_ledger.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <unistd.h>

#include <openssl/sha.h>

#include "config/text.hpp"

namespace paceline::simulators {
namespace {

std::int64_t unix_nanoseconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

} // namespace

bool message_tags::take(std::string_view name, std::string_view value) {
  auto* const place = name == "paceline-message"   ? &message
                      : name == "paceline-version" ? &version
                                                   : nullptr;
  if (place == nullptr)
    return true;
  const auto* const end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, *place);
  return error == std::errc{} && stop == end;
}

acceptance_ledger::acceptance_ledger(const std::string& path, const std::string& folder,
                                     const std::string& route)
    : folder_(folder), tail_(",\"route\":" + json_string(route)) {
  if (!folder.empty())
    std::filesystem::create_directories(folder);
  if (path.empty())
    return;
  constexpr mode_t readable = 0644;
  file_ = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, readable);
  if (file_ < 0)
    throw std::system_error(errno, std::generic_category(), "can't open ledger " + path);
}

acceptance_ledger::~acceptance_ledger() {
  if (file_ >= 0)
    ::close(file_);
}

bool acceptance_ledger::append(message_tags who, std::string_view raw, std::size_t recipients,
                               bool unanswered) {
  if (who.message == 0)
    who.message = --strangers_;
  if (!folder_.empty() && !keep(who, raw))
    return false;
  if (file_ < 0)
    return true;
  line_ = "{\"message\":" + std::to_string(who.message);
  line_ += ",\"version\":" + std::to_string(who.version);
  line_ += ",\"recipients\":" + std::to_string(recipients);
  line_ += ",\"received_ns\":" + std::to_string(unix_nanoseconds());
  line_ += tail_;
  line_ += ",\"sha256\":\"" + sha256_hex(raw) + "\"";
  line_ += unanswered ? ",\"unanswered\":true}\n" : "}\n";
  ssize_t written = 0;
  do
    written = ::write(file_, line_.data(), line_.size());
  while (written < 0 && errno == EINTR);
  return written == static_cast<ssize_t>(line_.size());
}

bool acceptance_ledger::keep(const message_tags& who, std::string_view raw) const {
  const auto name = std::to_string(who.message) + "-" + std::to_string(who.version) + ".eml";
  std::ofstream file(folder_ + "/" + name, std::ios::binary);
  file.write(raw.data(), static_cast<std::streamsize>(raw.size()));
  return static_cast<bool>(file.flush());
}

std::string sha256_hex(std::string_view of) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::array<unsigned char, SHA256_DIGEST_LENGTH> hash{};
  ::SHA256(reinterpret_cast<const unsigned char*>(of.data()), of.size(), hash.data());
  std::string hex;
  hex.reserve(2 * hash.size());
  for (const auto octet : hash) {
    hex.push_back(digits[octet >> 4U]);
    hex.push_back(digits[octet & 15U]);
  }
  return hex;
}

} // namespace paceline::simulators
