/// Operating errors as values. Library exceptions stop at the floor's edge and become one of these.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace paceline {

enum class error_kind {
  unavailable, ///< database away, connection lost before the statement: retry helps
  in_doubt,    ///< connection lost after sending: it may have been done; repeat the same statement
  conflict,    ///< serialization failure or deadlock: retry helps
  timeout,     ///< statement timeout: retry may help
  overloaded,  ///< a bounded queue was full: retry later
  not_found,   ///< no such thing
  refused,     ///< a rule forbids it (state, ownership): retry does not help
  invalid,     ///< the input is wrong: `text` names the field
  data,        ///< a value the database can't store (constraint, encoding): split the batch
  internal,    ///< a bug or a schema mismatch
};

struct error {
  error_kind kind = error_kind::internal;
  std::string text; ///< for people: what failed and what to do; no secrets, no bodies

  /// Whether doing the same again can succeed.
  bool is_retryable() const {
    switch (kind) {
    case error_kind::unavailable:
    case error_kind::in_doubt:
    case error_kind::conflict:
    case error_kind::timeout:
    case error_kind::overloaded:
      return true;
    case error_kind::not_found:
    case error_kind::refused:
    case error_kind::invalid:
    case error_kind::data:
    case error_kind::internal:
      return false;
    }
    return false;
  }
};

/// Either a value or an operating error.
template <class T>
class [[nodiscard]] result {
public:
  result(T value) : state_(std::move(value)) {}
  result(error failure) : state_(std::move(failure)) {}

  explicit operator bool() const { return std::holds_alternative<T>(state_); }
  T& operator*() { return std::get<T>(state_); }
  const T& operator*() const { return std::get<T>(state_); }
  T* operator->() { return &std::get<T>(state_); }
  const T* operator->() const { return &std::get<T>(state_); }
  const error& failure() const { return std::get<error>(state_); }

private:
  std::variant<T, error> state_;
};

/// Nothing to return but success.
struct done {};

} // namespace paceline
