/// Who is asking: API keys by their token, remembered for a few seconds.
///
/// A key that ends is let in here for at most that long; storing looks at the key once more, so
/// nothing is taken in for it. Remembered is also that an id has no key, so that guessing costs the
/// database one look per id; apart from the keys, so that no number of guesses drives one out.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "storage/keys.hpp"
#include "storage/model/instants.hpp"
#include "transport/api/token.hpp"

namespace paceline {

/// Thread-safe.
class key_cache {
public:
  static constexpr nanoseconds good_for = std::chrono::seconds{5};
  static constexpr nanoseconds noted_every = std::chrono::seconds{60};
  static constexpr std::size_t most = 10'000, most_unknown = 1000;

  using find_function = std::function<result<api_key>(key_id)>;
  /// Stores that these keys were used; quick, must not block.
  using note_function = std::function<void(std::vector<key_id>)>;
  key_cache(find_function find, note_function note)
      : find_(std::move(find)), note_(std::move(note)) {}

  /// The key of this token; nullptr if there is none, or not a valid one. Error: it could not be
  /// looked up; a retry helps.
  result<std::shared_ptr<const api_key>> authenticate(const parsed_token& token, boot_instant now);

  /// Forgets one key: storing has found that it has ended.
  void forget(key_id key);
  /// The next use asks the database, as every change must that doesn't look at the key itself.
  void look_again(key_id key);

private:
  struct entry {
    std::shared_ptr<const api_key> key;
    boot_instant good_until{};
    boot_instant noted_at{}; ///< its last use that was stored
  };
  std::optional<std::shared_ptr<const api_key>> remembered(key_id id, boot_instant now);
  void remember(key_id id, std::shared_ptr<const api_key> key, boot_instant now);
  void note_use(key_id id, boot_instant now);

  const find_function find_;
  const note_function note_;
  std::mutex mutex_;
  std::unordered_map<key_id, entry> entries_;
  std::unordered_map<key_id, boot_instant> unknown_; ///< ids without a key, and until when
};

} // namespace paceline
