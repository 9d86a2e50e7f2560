/// One PostgreSQL connection with our rules: named queries, timed, errors as values.
///
/// The only header that includes libpqxx; for `storage/*.cpp` and `test/pg` alone. A session is
/// owned by one thread (a pool's or the caller's) and is never repaired: after an error that leaves
/// doubt about the connection it is broken, every call fails with `unavailable`, and its owner
/// throws it away. A statement runs in a transaction of its own (one round trip) unless it is
/// called inside `in_transaction`.
///
/// Where an error leaves us:
///   unavailable  not done (before sending, or inside a transaction that was never committed)
///   in_doubt     a lone statement or COMMIT was sent and its end is not known; also when the
///                server warns that a commit may not have reached its standby
///   conflict     serialization failure or deadlock
///   timeout      statement or lock timeout
///   data         the database refuses the value (classes 22 and 23, or a NUL in a text)
///   internal     everything else: privileges, syntax, a schema that is not ours
/// After `data` and `conflict` the session is still good; after all others it is broken.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include <pqxx/pqxx>

#include "storage/array_literal.hpp"
#include "storage/model/instants.hpp"
#include "storage/pool.hpp"
#include "storage/query_text.hpp"
#include "storage/result.hpp"

namespace paceline {

/// A parameter as text; empty = NULL.
using parameter = std::optional<std::string>;

inline parameter to_parameter(std::monostate) {
  return std::nullopt;
}
inline parameter to_parameter(std::nullopt_t) {
  return std::nullopt;
}
inline parameter to_parameter(std::string_view text) {
  return std::string{text};
}
inline parameter to_parameter(std::string text) {
  return text;
}
inline parameter to_parameter(const char* text) {
  return std::string{text};
}
inline parameter to_parameter(bool value) {
  return value ? "t" : "f";
}
inline parameter to_parameter(std::integral auto value) {
  return std::to_string(value);
}
inline parameter to_parameter(std::floating_point auto value) {
  return pqxx::to_string(value);
}
/// Durations and database instants travel as bigint nanoseconds.
inline parameter to_parameter(nanoseconds value) {
  return std::to_string(value.count());
}
inline parameter to_parameter(database_instant value) {
  return std::to_string(value.time_since_epoch().count());
}
template <class Tag>
parameter to_parameter(const strong_id<Tag>& id) {
  return std::to_string(id.value());
}
template <class T>
parameter to_parameter(const std::optional<T>& value) {
  return value ? to_parameter(*value) : parameter{};
}

/// Bytes for a `$n::bytea` parameter.
std::string bytea_literal(std::span<const std::uint8_t> bytes);

class session;

/// Rows by COPY, inside `session::in_transaction` only. No other statement may run on the session
/// until `complete` was called. Destroyed before it is complete: the transaction fails.
class copy_writer {
public:
  copy_writer(copy_writer&&) noexcept;
  ~copy_writer();

  /// One value per column, converted as parameters are.
  template <class... Args>
  result<done> write(const Args&... args) {
    const std::array<parameter, sizeof...(Args)> row{to_parameter(args)...};
    if (auto sound = check(row); !sound)
      return sound;
    std::array<const char*, sizeof...(Args)> texts{};
    for (std::size_t i = 0; i < row.size(); ++i)
      texts[i] = row[i] ? row[i]->c_str() : nullptr;
    try {
      *stream_ << texts;
      return done{};
    } catch (...) {
      return failed();
    }
  }

  /// Waits for the server's word on all rows.
  result<done> complete();

private:
  friend class session;
  copy_writer(session& owner, std::unique_ptr<pqxx::stream_to> stream);
  result<done> check(std::span<const parameter> row);
  error failed(); ///< inside a catch block

  session* owner_;
  std::unique_ptr<pqxx::stream_to> stream_;
};

class session {
public:
  /// Connects; blocks for at most the connect timeout. Error: unavailable, or invalid for a DSN
  /// that can't be parsed.
  static result<std::unique_ptr<session>> open(const connection_options&, statement_counts&);
  ~session();
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  /// Runs one statement. The result must not outlive the session.
  template <class... Args>
  result<pqxx::result> run(const query_text& query, const Args&... args) {
    return run_with(query, {to_parameter(args)...});
  }
  result<pqxx::result> run_with(const query_text& query, const std::vector<parameter>& parameters);

  /// BEGIN, `work(*this)`, then COMMIT if it returned a value, else ROLLBACK. `work` returns a
  /// result<T>. A statement that failed inside makes the whole transaction fail, also where `work`
  /// overlooked it. Not nestable.
  template <class F>
  auto in_transaction(F&& work) -> std::invoke_result_t<F&, session&> {
    if (auto begun = begin(); !begun)
      return begun.failure();
    try {
      auto value = work(*this);
      if (!value) {
        roll_back();
        return value;
      }
      if (auto committed = commit(); !committed)
        return committed.failure();
      return value;
    } catch (...) { // a value of the result that was not what `work` expected
      const auto failure = understand("transaction", error_kind::unavailable);
      roll_back();
      return failure;
    }
  }

  /// COPY into `table` (columns); see copy_writer.
  result<copy_writer> copy_in(const std::string& table, const std::vector<std::string>& columns);

  /// Several statements of one text without parameters: migrations and tests. Inside a transaction
  /// if one is open.
  result<done> run_script(std::string_view name, const std::string& text);

  bool is_broken() const { return broken_; }
  /// Whether an idle connection is still there, as far as can be seen without a round trip.
  bool looks_alive() { return !unusable("idle"); }
  /// SQLSTATE of the last error; empty if it had none or nothing failed yet.
  const std::string& last_sqlstate() const { return last_sqlstate_; }
  /// The raw connection, for the wake listener and tests.
  pqxx::connection& raw() { return *connection_; }

private:
  friend class copy_writer;
  class notice_watch;
  session(std::unique_ptr<pqxx::connection> connection, bool prepared, statement_counts& counts);

  result<done> begin();
  result<done> commit();
  void roll_back();
  result<done> prepare(const query_text& query);
  pqxx::result send(pqxx::transaction_base& on, const query_text& query,
                    const std::vector<parameter>& parameters);
  /// Inside a catch block: what the current exception means. `lost` is the kind where the
  /// connection broke or the server went away.
  error understand(std::string_view what, error_kind lost);
  error remember(error failure);
  std::optional<error> unusable(std::string_view what);

  std::unique_ptr<pqxx::connection> connection_;
  std::unique_ptr<notice_watch> notices_; // must go before the connection
  std::unique_ptr<pqxx::work> open_;
  std::optional<error> failed_inside_;            // why the open transaction can't be committed
  std::unordered_set<std::string_view> prepared_; // names of constants
  statement_counts& counts_;
  std::string last_sqlstate_;
  bool use_prepared_;
  bool broken_ = false;
};

} // namespace paceline
