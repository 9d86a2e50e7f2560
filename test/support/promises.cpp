#include "test/support/promises.hpp"

#include <set>

#include "storage/model/state.hpp"

namespace paceline::test {
namespace {

/// Counters and grouped states of every stream, in one snapshot.
constexpr const char* sums = R"(
SELECT s.id, c.audience, c.expanded, k.*, g.*
  FROM streams s
  LEFT JOIN campaigns c ON c.id = s.id
 CROSS JOIN LATERAL (
       SELECT coalesce(sum(total), 0) AS total, coalesce(sum(open), 0) AS open,
              coalesce(sum(unknown), 0) AS unknown, coalesce(sum(accepted), 0) AS accepted,
              coalesce(sum(rejected), 0) AS rejected, coalesce(sum(suppressed), 0) AS suppressed,
              coalesce(sum(canceled), 0) AS canceled, coalesce(sum(expired), 0) AS expired
         FROM counters WHERE stream = s.id) k
 CROSS JOIN LATERAL (
       SELECT count(*) AS has_total, count(*) FILTER (WHERE status IN (0, 1)) AS has_open,
              count(*) FILTER (WHERE status = 2) AS has_unknown,
              count(*) FILTER (WHERE status IN (3, 4, 5, 6, 7, 13)) AS has_accepted,
              count(*) FILTER (WHERE status IN (8, 9)) AS has_rejected,
              count(*) FILTER (WHERE status = 10) AS has_suppressed,
              count(*) FILTER (WHERE status = 11) AS has_canceled,
              count(*) FILTER (WHERE status = 12) AS has_expired
         FROM message_states WHERE stream = s.id) g)";

void check_sums(pqxx::work& in, std::vector<std::string>& broken) {
  for (const auto& row : in.exec(sums)) {
    const std::string stream = "stream " + std::string(row["id"].c_str()) + ": ";
    for (const char* count : {"total", "open", "unknown", "accepted", "rejected", "suppressed",
                              "canceled", "expired"}) {
      const std::string counted = row[count].c_str();
      const std::string has = row[("has_" + std::string(count)).c_str()].c_str();
      if (counted != has)
        broken.push_back(stream + count + " is counted as " + counted + ", but there are " + has);
    }
    if (!row["audience"].is_null() && row["expanded"].as<long>() != row["total"].as<long>())
      broken.push_back(stream + "expanded " + row["expanded"].c_str() + " of "
                       + row["audience"].c_str() + ", but " + row["total"].c_str() + " exist");
  }
}

bool may_have_been_sent(message_status status) {
  switch (status) {
  case message_status::attempting:
  case message_status::acceptance_unknown:
  case message_status::accepted:
  case message_status::sent:
  case message_status::delayed:
  case message_status::delivered:
  case message_status::bounced:
  case message_status::complained:
    return true;
  case message_status::queued:
  case message_status::rejected:
  case message_status::rendering_failed:
  case message_status::suppressed:
  case message_status::canceled:
  case message_status::expired:
    break;
  }
  return false;
}

void check_ledger(pqxx::work& in, const std::vector<ledger_line>& ledger,
                  std::vector<std::string>& broken) {
  for (const auto message : twice(ledger))
    broken.push_back("message " + std::to_string(message) + " was handed over twice");
  std::set<std::int64_t> handed_over;
  for (const auto& line : ledger)
    handed_over.insert(line.message);
  for (const auto& row : in.exec("SELECT id, status, reason FROM message_states")) {
    const auto status = static_cast<message_status>(row[1].as<int>());
    const bool resolved =
        static_cast<reason_code>(row[2].as<int>()) == reason_code::operator_resolved;
    const bool was_sent = handed_over.erase(row[0].as<std::int64_t>()) > 0;
    if (was_sent && !may_have_been_sent(status) && !resolved)
      broken.push_back("message " + std::string(row[0].c_str()) + " was handed over and is "
                       + std::string(name(status)));
    if (!was_sent && status == message_status::accepted && !resolved)
      broken.push_back("message " + std::string(row[0].c_str())
                       + " is accepted and was never handed over");
  }
  for (const auto message : handed_over)
    broken.push_back("message " + std::to_string(message) + " was handed over and is not stored");
}

} // namespace

std::vector<std::string> broken_promises(pqxx::connection& database,
                                         const std::vector<ledger_line>& ledger) {
  std::vector<std::string> broken;
  pqxx::work in(database);
  check_sums(in, broken);
  check_ledger(in, ledger, broken);
  return broken;
}

std::string broken_text(pqxx::connection& database, const std::vector<ledger_line>& ledger) {
  std::string all;
  for (const auto& sentence : broken_promises(database, ledger))
    all += sentence + "\n";
  return all;
}

} // namespace paceline::test
