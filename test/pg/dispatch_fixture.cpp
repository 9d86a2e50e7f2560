#include "test/pg/dispatch_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include "storage/schema.hpp"
#include "test/support/private_postgres.hpp"

namespace paceline::test {
namespace {

/// One migrated database for all cases of this program: making one for each took most of the time.
/// Cases run one after the other, and each begins by emptying it.
struct shared_database {
  shared_database() : dsn(cluster.create_database("dispatch")) {
    statement_counts counts;
    connection_options options;
    options.dsn = dsn;
    must(migrate(*must(session::open(options, counts)), [](std::string_view) {}));
  }
  private_postgres cluster;
  std::string dsn;
};

const std::string& shared_dsn() {
  static shared_database database;
  return database.dsn;
}

constexpr int shard_count = 4;

} // namespace

dispatch_fixture::dispatch_fixture() : dsn(shared_dsn()) {
  observer_ = std::make_unique<pqxx::connection>(dsn);
  db = connect();
  ask("TRUNCATE routes, route_grants, nodes, shards, lost_epochs, contents, content_attachments, "
      "streams, campaigns, "
      "messages, message_states, counters, dispatch_curve, suppressions, unsubscribes, api_keys, "
      "audit_log, "
      "idempotency_keys, campaign_recipients RESTART IDENTITY");
  ask("DELETE FROM projects WHERE id <> 1");
  ask("UPDATE projects SET sender_domains = DEFAULT, max_outstanding = DEFAULT");
  route = route_id{std::stoll(ask("INSERT INTO routes (environment, region, shard_count) "
                                  "VALUES ('test', 'local', 4) RETURNING id"))};
  ask("INSERT INTO nodes (id, name, version) VALUES (1, 'one', '0')");
  for (int i = 0; i < shard_count; ++i) {
    epochs.emplace_back(std::stoll(ask("SELECT nextval('epochs')")));
    shards.emplace_back(
        std::stoll(ask("INSERT INTO shards (route, generation, index, count, owner, epoch) VALUES ("
                       + std::to_string(route.value()) + ", 1, " + std::to_string(i) + ", 4, 1, "
                       + std::to_string(epochs.back().value()) + ") RETURNING id")));
  }
}

std::unique_ptr<session> dispatch_fixture::connect() {
  connection_options options;
  options.dsn = dsn;
  return must(session::open(options, counts));
}

std::string dispatch_fixture::ask(const std::string& statement) {
  pqxx::nontransaction on{*observer_};
  const auto rows = on.exec(statement);
  return rows.empty() || rows.columns() == 0 ? std::string{} : std::string{rows[0][0].c_str()};
}

void dispatch_fixture::wait_until_blocked(session& waiting) {
  const auto pid = std::to_string(waiting.raw().backendpid());
  const auto deadline = boot_clock::now() + std::chrono::seconds{30};
  while (ask("SELECT wait_event_type FROM pg_stat_activity WHERE pid = " + pid) != "Lock")
    if (boot_clock::now() > deadline)
      throw std::runtime_error("the statement does not wait for a lock");
}

stream_id dispatch_fixture::make_campaign(int size, bool expanded) {
  new_campaign campaign;
  campaign.name = "spring";
  campaign.route = route;
  campaign.what.sender = "a@example.org";
  campaign.what.subject = "Hello";
  int made = 0;
  auto next = [&made, size]() -> result<std::optional<audience_member>> {
    if (made == size)
      return std::optional<audience_member>{};
    ++made;
    audience_member member{"r", "{}"};
    member.recipient.append(std::to_string(made)).append("@example.org");
    return std::optional{member};
  };
  const auto id = must(start_campaign(*db, ids, campaign, next));
  while (expanded && !must(expand_page(*db, id, 1000, 0)).done)
    continue;
  return id;
}

std::vector<due_message> dispatch_fixture::due(stream_id stream, int limit) {
  reserve_request request;
  request.sources.push_back({stream, reserve_part::own, {}, limit});
  return std::move(must(reserve_due(*db, request)).at(0).rows);
}

claim_request dispatch_fixture::ask_for(const std::vector<due_message>& rows, int group_no,
                                        int shard) {
  claim_request request;
  request.shard = shards.at(static_cast<std::size_t>(shard));
  request.epoch = epochs.at(static_cast<std::size_t>(shard));
  request.group_no = group_no;
  for (const auto& row : rows)
    request.rows.push_back({row.of, row.stream, row.project, row.recipients, row.key});
  return request;
}

std::vector<attempt> dispatch_fixture::claim_due(stream_id stream, int group_no, int limit) {
  const auto rows = due(stream, limit);
  std::vector<attempt> all;
  for (const auto& claimed : must(claim_group(*db, ask_for(rows, group_no))).rows)
    all.push_back(claimed.of);
  return all;
}

std::string dispatch_fixture::states(stream_id stream) {
  std::string text;
  for (int status = 0; status <= 13; ++status) {
    const auto count =
        ask("SELECT count(*) FROM message_states WHERE stream = " + std::to_string(stream.value())
            + " AND status = " + std::to_string(status));
    if (count != "0")
      text.append(text.empty() ? "" : " ")
          .append(name(static_cast<message_status>(status)))
          .append("=")
          .append(count);
  }
  return text;
}

bool dispatch_fixture::counters_match() {
  return ask("SELECT count(*) FROM "
             "(SELECT stream, count(*) AS total, count(*) FILTER (WHERE status IN (0, 1)) AS open,"
             " count(*) FILTER (WHERE status = 2) AS unknown,"
             " count(*) FILTER (WHERE status IN (3, 4, 5, 6, 7, 13)) AS accepted,"
             " count(*) FILTER (WHERE status IN (8, 9)) AS rejected,"
             " count(*) FILTER (WHERE status = 10) AS suppressed,"
             " count(*) FILTER (WHERE status = 11) AS canceled,"
             " count(*) FILTER (WHERE status = 12) AS expired,"
             " sum(throttles) AS throttled FROM message_states GROUP BY stream) s "
             "FULL JOIN (SELECT stream, sum(total) AS total, sum(open) AS open,"
             " sum(unknown) AS unknown, sum(accepted) AS accepted, sum(rejected) AS rejected,"
             " sum(suppressed) AS suppressed, sum(canceled) AS canceled, sum(expired) AS expired,"
             " sum(throttled) AS throttled FROM counters GROUP BY stream) k "
             "USING (stream, total, open, unknown, accepted, rejected, suppressed, canceled,"
             " expired, throttled) WHERE s.* IS NULL OR k.* IS NULL")
         == "0";
}

outcome make_outcome(const attempt& of, outcome_kind kind, std::int64_t started_s) {
  outcome made;
  made.of = of;
  made.kind = kind;
  if (kind != outcome_kind::not_started)
    made.started_at = database_instant{std::chrono::seconds{started_s}};
  if (kind == outcome_kind::accepted)
    made.provider_id = std::to_string(of.message.value());
  return made;
}

std::vector<attempt> attempts_of(const std::vector<due_message>& rows) {
  std::vector<attempt> all;
  for (const auto& row : rows)
    all.push_back(row.of);
  return all;
}

} // namespace paceline::test
