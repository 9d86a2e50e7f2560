#include "storage/session.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>

#include <poll.h>

#include "storage/conninfo.hpp"

namespace paceline {
namespace {

/// Adds a statement and its time to the counts, however it ends.
class statement_timer {
public:
  statement_timer(statement_counts& counts, std::string_view name)
      : counts_(counts), name_(name), start_(boot_clock::now()) {}
  ~statement_timer() {
    counts_.add(name_, boot_clock::now() - start_, std::uncaught_exceptions() > exceptions_);
  }
  statement_timer(const statement_timer&) = delete;
  statement_timer& operator=(const statement_timer&) = delete;

private:
  statement_counts& counts_;
  std::string_view name_;
  boot_instant start_;
  int exceptions_ = std::uncaught_exceptions();
};

/// First line only: the lines behind it (DETAIL, CONTEXT) repeat values of rows.
std::string first_line(std::string_view message) {
  constexpr std::size_t longest = 200;
  return std::string{message.substr(0, std::min(message.find('\n'), longest))};
}

bool starts_with(const std::string& state, std::string_view prefix) {
  return std::string_view{state}.starts_with(prefix);
}

/// What an SQLSTATE means for us; `lost` where the server or the connection is gone. A missing
/// state means that libpq, not the server, reports the end of the connection.
error_kind kind_of(const std::string& state, error_kind lost) {
  if (state.empty() || starts_with(state, "08") || starts_with(state, "57P"))
    return lost;
  if (starts_with(state, "22") || starts_with(state, "23"))
    return error_kind::data;
  if (starts_with(state, "40"))
    return state == "40003" ? lost : error_kind::conflict;
  if (state == "57014" || state == "55P03")
    return error_kind::timeout;
  // Out of memory, disk or connections; a standby that is still read-only; idle in transaction for
  // too long. Nothing was done, and another connection may find it otherwise.
  if (starts_with(state, "53") || state == "25006" || state == "25P03")
    return error_kind::unavailable;
  return error_kind::internal;
}

error_kind kind_of_current(error_kind lost, std::string& state, std::string& message) {
  try {
    throw;
  } catch (const pqxx::sql_error& e) {
    state = e.sqlstate();
    message = first_line(e.what());
    return kind_of(state, lost);
  } catch (const pqxx::statement_completion_unknown& e) {
    state = "40003";
    message = first_line(e.what());
    return lost;
  } catch (const pqxx::transaction_rollback& e) { // serialization failure, deadlock
    message = first_line(e.what());
    return error_kind::conflict;
  } catch (const pqxx::failure& e) { // broken_connection, in_doubt_error
    message = first_line(e.what());
    return lost;
  } catch (const std::exception& e) {
    message = first_line(e.what());
    return error_kind::internal;
  }
}

/// Without looking inside, libpqxx and libpq would cut a text at its first NUL.
bool holds_nul(std::span<const parameter> values) {
  return std::ranges::any_of(
      values, [](const parameter& p) { return p && p->find('\0') != std::string::npos; });
}

error nul_error(std::string_view what) {
  return {error_kind::data, std::string{what} + ": a text holds a NUL character"};
}

std::vector<const char*> pointers(const std::vector<parameter>& values) {
  std::vector<const char*> texts;
  texts.reserve(values.size());
  for (const auto& value : values)
    texts.push_back(value ? value->c_str() : nullptr);
  return texts;
}

} // namespace

std::string bytea_literal(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text = "\\x";
  text.reserve(2 + 2 * bytes.size());
  for (const auto byte : bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

/// Sees the warnings of the server. The one that matters says that a commit is local only. It is
/// told by its English text (its SQLSTATE is the general 01000): the server's lc_messages must be
/// English or C for this, as Debian's and every hosted server's is.
class session::notice_watch final : public pqxx::errorhandler {
public:
  explicit notice_watch(pqxx::connection& connection) : pqxx::errorhandler(connection) {}
  bool operator()(const char message[]) noexcept override {
    if (std::strstr(message, "synchronous replication") != nullptr)
      unreplicated_ = true;
    if (std::strncmp(message, "FATAL", 5) == 0)
      ended_ = true;
    return false; // nothing of it goes to standard error
  }
  bool take_unreplicated() { return std::exchange(unreplicated_, false); }
  /// The server has said goodbye, a moment before it closes the socket.
  bool has_ended() const { return ended_; }

private:
  bool unreplicated_ = false;
  bool ended_ = false;
};

session::session(std::unique_ptr<pqxx::connection> connection, bool prepared,
                 statement_counts& counts)
    : connection_(std::move(connection)), notices_(std::make_unique<notice_watch>(*connection_)),
      counts_(counts), use_prepared_(prepared) {}

session::~session() = default;

result<std::unique_ptr<session>> session::open(const connection_options& options,
                                               statement_counts& counts) {
  const auto conninfo = complete_conninfo(options);
  if (!conninfo)
    return conninfo.failure();
  try {
    auto connection = std::make_unique<pqxx::connection>(*conninfo);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    // A connection that repairs itself has lost its prepared statements and hides what was lost.
    connection->inhibit_reactivation(true);
#pragma GCC diagnostic pop
    return std::unique_ptr<session>{
        new session{std::move(connection), options.prepared_statements, counts}};
  } catch (const std::exception& e) {
    return error{error_kind::unavailable, "can't connect to the database: " + first_line(e.what())};
  }
}

error session::understand(std::string_view what, error_kind lost) {
  std::string message;
  last_sqlstate_.clear();
  const auto kind = kind_of_current(lost, last_sqlstate_, message);
  if (!connection_->is_open()) // libpqxx then says something about encodings
    message = kind == error_kind::in_doubt
                  ? "the connection was lost; whether it was done is not known"
                  : "the connection was lost";
  error failure{kind, std::string{what} + ": " + message};
  if (!last_sqlstate_.empty())
    failure.text += " (SQLSTATE " + last_sqlstate_ + ")";
  return remember(std::move(failure));
}

error session::remember(error failure) {
  if ((failure.kind != error_kind::data && failure.kind != error_kind::conflict)
      || !connection_->is_open())
    broken_ = true;
  if (open_)
    failed_inside_ = failure;
  return failure;
}

/// Looks, before anything is sent, whether the server has already said goodbye: then the statement
/// is plainly not done instead of in doubt. An idle connection is readable only for a notice or
/// its end.
std::optional<error> session::unusable(std::string_view what) {
  try {
    pollfd socket{connection_->sock(), POLLIN, 0};
    for (int reads = 0; !broken_ && reads < 4 && ::poll(&socket, 1, 0) > 0; ++reads) {
      connection_->get_notifs();
      broken_ = notices_->has_ended() || !connection_->is_open();
    }
  } catch (const std::exception&) {
    broken_ = true;
  }
  if (!broken_ && connection_->is_open())
    return std::nullopt;
  broken_ = true;
  return error{error_kind::unavailable, std::string{what} + ": the connection was lost"};
}

result<done> session::prepare(const query_text& query) {
  if (prepared_.contains(query.name))
    return done{};
  try {
    const std::string name{query.name};
    connection_->prepare(name, std::string{query.text});
    connection_->prepare_now(name);
    prepared_.insert(query.name);
    return done{};
  } catch (...) {
    return understand(query.name, error_kind::unavailable);
  }
}

pqxx::result session::send(pqxx::transaction_base& on, const query_text& query,
                           const std::vector<parameter>& parameters) {
  const auto texts = pointers(parameters);
  const auto values = pqxx::prepare::make_dynamic_params(texts);
  const statement_timer timer{counts_, query.name};
  return use_prepared_ ? on.exec_prepared(std::string{query.name}, values)
                       : on.exec_params(std::string{query.text}, values);
}

result<pqxx::result> session::run_with(const query_text& query,
                                       const std::vector<parameter>& parameters) {
  if (failed_inside_)
    return *failed_inside_;
  if (holds_nul(parameters))
    return remember(nul_error(query.name));
  if (auto why = open_ ? std::nullopt : unusable(query.name))
    return remember(*why);
  if (use_prepared_)
    if (auto ready = prepare(query); !ready)
      return ready.failure();
  // Inside a transaction nothing is done before COMMIT, so a lost connection leaves no doubt.
  const auto lost = open_ ? error_kind::unavailable : error_kind::in_doubt;
  try {
    if (open_)
      return send(*open_, query, parameters);
    pqxx::nontransaction alone{*connection_};
    auto rows = send(alone, query, parameters);
    if (notices_->take_unreplicated())
      return error{error_kind::in_doubt,
                   std::string{query.name} + ": committed, but perhaps not on the standby"};
    return rows;
  } catch (...) {
    return understand(query.name, lost);
  }
}

result<done> session::begin() {
  if (open_)
    return error{error_kind::internal, "a transaction is open already"};
  if (auto why = unusable("begin"))
    return *why;
  notices_->take_unreplicated();
  try {
    failed_inside_.reset();
    open_ = std::make_unique<pqxx::work>(*connection_);
    return done{};
  } catch (...) {
    return understand("begin", error_kind::unavailable);
  }
}

result<done> session::commit() {
  if (failed_inside_) {
    const auto failure = *failed_inside_;
    roll_back();
    return failure;
  }
  std::optional<error> failure;
  try {
    const statement_timer timer{counts_, "commit"};
    open_->commit();
  } catch (...) {
    failure = understand("commit", error_kind::in_doubt);
    // Whatever else COMMIT reports, it doesn't prove that nothing was committed.
    if (failure->kind == error_kind::internal || failure->kind == error_kind::unavailable)
      failure->kind = error_kind::in_doubt;
  }
  open_.reset();
  failed_inside_.reset();
  if (failure)
    return *failure;
  if (notices_->take_unreplicated())
    return error{error_kind::in_doubt, "committed, but perhaps not on the standby"};
  return done{};
}

void session::roll_back() {
  try {
    open_->abort();
  } catch (const std::exception&) {
    broken_ = true;
  }
  open_.reset();
  failed_inside_.reset();
}

result<done> session::run_script(std::string_view name, const std::string& text) {
  if (failed_inside_)
    return *failed_inside_;
  if (auto why = open_ ? std::nullopt : unusable(name))
    return *why;
  try {
    const statement_timer timer{counts_, name};
    if (open_) {
      open_->exec(text);
    } else {
      pqxx::nontransaction alone{*connection_};
      alone.exec(text);
    }
    return done{};
  } catch (...) {
    return understand(name, open_ ? error_kind::unavailable : error_kind::in_doubt);
  }
}

result<copy_writer> session::copy_in(const std::string& table,
                                     const std::vector<std::string>& columns) {
  if (!open_)
    return error{error_kind::internal, "COPY outside of a transaction"};
  if (failed_inside_)
    return *failed_inside_;
  try {
    const statement_timer timer{counts_, "copy_in"};
    return copy_writer{*this, std::make_unique<pqxx::stream_to>(*open_, table, columns)};
  } catch (...) {
    return understand("copy_in", error_kind::unavailable);
  }
}

copy_writer::copy_writer(session& owner, std::unique_ptr<pqxx::stream_to> stream)
    : owner_(&owner), stream_(std::move(stream)) {}
copy_writer::copy_writer(copy_writer&&) noexcept = default;

copy_writer::~copy_writer() {
  // libpqxx completes a forgotten stream: what it holds must not be committed as if it were all.
  if (stream_ && !owner_->failed_inside_)
    owner_->remember({error_kind::internal, "COPY ended before it was complete"});
}

result<done> copy_writer::check(std::span<const parameter> row) {
  if (holds_nul(row))
    return owner_->remember(nul_error("copy_in"));
  return done{};
}

error copy_writer::failed() {
  return owner_->understand("copy_in", error_kind::unavailable);
}

result<done> copy_writer::complete() {
  try {
    const auto stream = std::move(stream_);
    stream->complete();
    return done{};
  } catch (...) {
    return failed();
  }
}

} // namespace paceline
