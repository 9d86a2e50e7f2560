#include "storage/records.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "storage/clean_text.hpp"
#include "storage/session.hpp"
#include "storage/sql/queries.hpp"

namespace paceline {
namespace {

using std::chrono::duration_cast;
using std::chrono::microseconds;

constexpr std::size_t longest_provider_id = 200;

std::int64_t count_us(nanoseconds duration) {
  return duration_cast<microseconds>(duration).count();
}

/// The number by which the statement knows it.
std::int16_t number_of(outcome_kind kind) {
  switch (kind) {
  case outcome_kind::accepted:
    return 0;
  case outcome_kind::throttled:
    return 1;
  case outcome_kind::rejected:
    return 2;
  case outcome_kind::unknown:
    return 3;
  case outcome_kind::not_started:
    return 4;
  }
  return 3;
}

/// Whether the message goes back to wait, longer each time: without that, one that nobody can be
/// reached for would be claimed again and again.
bool waits(const outcome& of) {
  switch (of.kind) {
  case outcome_kind::throttled:
    return true;
  case outcome_kind::not_started:
    return of.reason == reason_code::provider_unreachable
           || of.reason == reason_code::provider_unavailable
           || of.reason == reason_code::signature_refused;
  case outcome_kind::accepted:
  case outcome_kind::rejected:
  case outcome_kind::unknown:
    return false;
  }
  return false;
}

/// One outcome per attempt: what is known beats `unknown`, then the later one. A join with two rows
/// for one message would take either.
std::vector<const outcome*> distinct_attempts(const std::vector<outcome>& outcomes) {
  std::map<attempt, const outcome*> distinct;
  for (const auto& next : outcomes) {
    auto& chosen = distinct[next.of];
    if (chosen == nullptr || chosen->kind == outcome_kind::unknown
        || next.kind != outcome_kind::unknown)
      chosen = &next;
  }
  std::vector<const outcome*> all;
  for (const auto& [of, chosen] : distinct)
    all.push_back(chosen);
  return all;
}

struct outcome_columns {
  std::vector<message_id> ids;
  std::vector<std::int32_t> versions;
  std::vector<std::int16_t> kinds, reasons;
  std::vector<std::optional<std::string>> provider_ids, diagnostics;
  std::vector<std::optional<std::int64_t>> started_us, retry_us;
  std::vector<bool> waiting;

  void add(const outcome& of) {
    ids.push_back(of.of.message);
    versions.push_back(of.of.version);
    kinds.push_back(number_of(of.kind));
    reasons.push_back(static_cast<std::int16_t>(of.reason));
    provider_ids.push_back(cleaned(of.provider_id, longest_provider_id));
    diagnostics.push_back(cleaned(of.diagnostic, 1000));
    started_us.push_back(of.started_at ? std::optional{count_us(of.started_at->time_since_epoch())}
                                       : std::nullopt);
    waiting.push_back(waits(of));
    retry_us.push_back(of.retry_after ? std::optional{count_us(*of.retry_after)} : std::nullopt);
  }

private:
  static std::optional<std::string> cleaned(const std::string& text, std::size_t limit) {
    auto clean = clean_text(text, limit);
    return clean.empty() ? std::nullopt : std::optional{std::move(clean)};
  }
};

result<record_reply> read_reply(const result<pqxx::result>& rows) {
  if (!rows)
    return rows.failure();
  record_reply reply;
  for (const auto& row : *rows) {
    touched_stream touched{stream_id{row[0].as<std::int64_t>()}, row[1].as<std::int64_t>(),
                           row[2].as<std::int64_t>()};
    reply.changed += touched.changed;
    reply.streams.push_back(touched);
  }
  return reply;
}

} // namespace

result<record_reply> record_outcomes(session& on, const std::vector<outcome>& outcomes,
                                     const backoff_settings& backoff, std::int32_t writer) {
  outcome_columns columns;
  for (const auto* next : distinct_attempts(outcomes))
    columns.add(*next);
  return read_reply(on.run(
      sql::record_outcomes, array_literal(columns.ids), array_literal(columns.versions),
      array_literal(columns.kinds), array_literal(columns.reasons),
      text_array_literal(columns.provider_ids), text_array_literal(columns.diagnostics),
      array_literal(columns.started_us), array_literal(columns.retry_us), count_us(backoff.first),
      count_us(backoff.longest), writer, array_literal(columns.waiting)));
}

result<record_reply> sweep_interrupted(session& on, nanoseconds older_than, std::int32_t limit,
                                       std::int32_t writer) {
  return read_reply(on.run(sql::sweep_interrupted, count_us(older_than), limit, writer));
}

} // namespace paceline
