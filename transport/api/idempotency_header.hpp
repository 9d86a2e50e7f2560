/// The `Idempotency-Key` header, and what makes two requests the same. Pure, but for the set of
/// keys in work, which is thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "storage/model/ids.hpp"
#include "transport/http/message.hpp"

namespace paceline {

struct idempotency_reading {
  std::optional<std::string> key; ///< nothing if there is no such header
  std::string problem;            ///< what is wrong with it; empty if fine
};
/// 1 to 255 printable ASCII characters, once.
idempotency_reading read_idempotency_key(const http_request& request);

/// SHA-256 over method, path and the body's octets.
std::array<std::uint8_t, 32> request_hash(const http_request& request);

/// Keys that this node is working for: a second request must not wait behind the first.
class keys_in_work {
public:
  /// Holds one key while it lives.
  class holder {
  public:
    holder(keys_in_work& of, std::string name) : of_(&of), name_(std::move(name)) {}
    holder(holder&& other) noexcept
        : of_(std::exchange(other.of_, nullptr)), name_(std::move(other.name_)) {}
    holder& operator=(holder&& other) noexcept {
      std::swap(of_, other.of_);
      std::swap(name_, other.name_);
      return *this;
    }
    ~holder();

  private:
    keys_in_work* of_;
    std::string name_;
  };

  /// Nothing if somebody holds it.
  std::optional<holder> hold(project_id project, std::string_view environment,
                             std::string_view key);

private:
  std::mutex mutex_;
  std::unordered_set<std::string> held_; ///< bounded by the requests in work
};

} // namespace paceline
