/// Plans of the hot statements, with many rows in flight and with none: the primary key for
/// whatever names its rows, the due index for the due scan, never a walk over the table.
#include "test/pg/dispatch_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include "storage/sql/queries.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

struct plans_fixture : dispatch_fixture {
  /// The generic plan: what a prepared statement gets, whatever its parameters are.
  std::string plan_of(const query_text& query, const std::vector<std::string>& arguments) {
    pqxx::connection on{dsn};
    pqxx::work work{on};
    work.exec("SET LOCAL plan_cache_mode = force_generic_plan");
    work.exec("PREPARE asked AS " + std::string{query.text});
    std::string execute = "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE asked(";
    for (std::size_t i = 0; i < arguments.size(); ++i)
      execute.append(i == 0 ? "" : ", ")
          .append(arguments[i] == "NULL" ? "NULL" : work.quote(arguments[i]));
    std::string plan;
    for (const auto& row : work.exec(execute + ")"))
      plan.append(row[0].c_str()).append("\n");
    return plan;
  }
  void check_by_primary_key(const std::string& plan) {
    BOOST_TEST_INFO(plan);
    BOOST_TEST(plan.find("Index Scan using message_states_pkey") != std::string::npos);
    BOOST_TEST_INFO(plan);
    BOOST_TEST(plan.find("Seq Scan on message_states") == std::string::npos);
    BOOST_TEST_INFO(plan);
    BOOST_TEST(plan.find("using message_states_due") == std::string::npos);
  }
  std::string claim_plan(const std::vector<due_message>& rows) {
    std::vector<message_id> asked;
    std::vector<int> versions, projects;
    std::vector<std::string> addresses;
    for (const auto& row : rows) {
      asked.push_back(row.of.message);
      versions.push_back(row.of.version);
      projects.push_back(1);
      addresses.push_back(row.recipients.at(0));
    }
    const auto number = [](auto id) { return std::to_string(id.value()); };
    return plan_of(sql::claim_group,
                   {number(shards[0]), number(epochs[0]), "9", "0", "{" + stream + "}",
                    array_literal(asked), array_literal(versions), array_literal(asked),
                    array_literal(projects), text_array_literal(addresses), array_literal(projects),
                    array_literal(projects),
                    array_literal(std::vector<std::int64_t>(rows.size(), std::stoll(stream)))});
  }
  /// The rows that a plan's node named `node` was asked for, over all its loops; 0 if it has none.
  static std::int64_t rows_of(const std::string& plan, const std::string& node) {
    const auto at = plan.find(node);
    if (at == std::string::npos)
      return 0;
    const auto rows = plan.find("rows=", at), loops = plan.find("loops=", at);
    return std::stoll(plan.substr(rows + 5)) * std::stoll(plan.substr(loops + 6));
  }
  std::string record_plan(const std::vector<attempt>& attempts) {
    std::vector<message_id> asked;
    std::vector<std::optional<std::int64_t>> none(attempts.size());
    for (const auto& of : attempts)
      asked.push_back(of.message);
    const auto zeros = array_literal(std::vector<int>(attempts.size(), 0));
    const auto nulls = array_literal(none);
    return plan_of(sql::record_outcomes, {array_literal(asked), zeros, zeros, zeros, nulls, nulls,
                                          nulls, nulls, "2000000", "32000000", "1", zeros});
  }
  std::string due_plan() {
    return plan_of(sql::reserve_due, {"{" + stream + "}", "{NULL}", "{0}", "{24}", "4", "{1}"});
  }
  std::string stream;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(plans, plans_fixture)

BOOST_AUTO_TEST_CASE(hot_statements_use_their_index_whatever_is_in_flight) {
  const auto campaign = make_campaign(40000);
  stream = std::to_string(campaign.value());
  const auto rows = due(campaign, 100);
  for (const std::string in_flight : {"none", "half"}) {
    if (in_flight == "half")
      ask("UPDATE message_states SET status = 1, epoch = 1 WHERE bucket < 512");
    ask("ANALYZE");
    check_by_primary_key(claim_plan(rows));
    check_by_primary_key(record_plan(attempts_of(rows)));
    const auto plan = due_plan();
    BOOST_TEST_INFO(plan);
    BOOST_TEST(plan.find("Index Scan using message_states_due") != std::string::npos);
    BOOST_TEST(plan.find("Seq Scan on message_states") == std::string::npos);
  }
}

/// Plans are kept: what is planned on empty tables must be right for full ones, too.
BOOST_AUTO_TEST_CASE(hot_statements_use_their_index_while_the_tables_are_empty) {
  const auto campaign = make_campaign(1);
  stream = std::to_string(campaign.value());
  const auto rows = due(campaign, 1);
  ask("TRUNCATE message_states, messages, counters, dispatch_curve");
  check_by_primary_key(claim_plan(rows));
  check_by_primary_key(record_plan(attempts_of(rows)));
  const auto plan = due_plan();
  BOOST_TEST_INFO(plan);
  BOOST_TEST(plan.find("message_states_due") != std::string::npos);
  BOOST_TEST_INFO(plan);
  BOOST_TEST(plan.find("Seq Scan on message_states") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_claim_looks_up_the_keys_it_names_and_no_other) {
  const auto campaign = make_campaign(1);
  stream = std::to_string(campaign.value());
  ask("INSERT INTO api_keys (id, project, environment, name, scopes, secret_hash) "
      "SELECT n, 1, 'test', 'k' || n, '{send}', sha256('x') FROM generate_series(1, 5000) n");
  ask("ANALYZE");
  const auto plan = claim_plan(due(campaign, 1));
  BOOST_TEST_INFO(plan);
  BOOST_TEST(plan.find("using api_keys_pkey") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(five_thousand_messages_are_taken_in_without_a_join) {
  std::vector<std::int64_t> ids_(5000), ones(5000, 1);
  std::vector<std::string> recipients(5000, "{a@example.org}");
  for (std::size_t i = 0; i < ids_.size(); ++i)
    ids_[i] = static_cast<std::int64_t>(i) + 1;
  const auto many = array_literal(ones);
  std::vector<std::string> arguments{
      "{1}", "{0}",    "{test}", "{" + std::to_string(route.value()) + "}",
      "{1}", "{5000}", "{NULL}", "{NULL}",
      "{0}", "{NULL}"};
  arguments.insert(arguments.end(), 8, "{}");
  for (const auto& column : {array_literal(ids_), many, many, text_array_literal(recipients), many})
    arguments.push_back(column);
  arguments.insert(arguments.end(), 6, "{}");
  arguments.emplace_back("{1}");
  arguments.insert(arguments.end(), 9, "{}");
  const auto plan = plan_of(sql::take_in, arguments);
  BOOST_TEST_INFO(plan);
  BOOST_TEST(plan.find("loops=5000") == std::string::npos);
  BOOST_TEST(ask("SELECT count(*) FROM message_states") == "0"); // EXPLAIN was rolled back
}

BOOST_AUTO_TEST_CASE(a_sum_of_what_is_outstanding_looks_at_live_streams_alone) {
  ask("INSERT INTO streams (id, project, route, kind, state, priority) "
      "SELECT n, 1, (SELECT id FROM routes), 'campaign', 'finished', 10 "
      "FROM generate_series(1, 20000) n");
  ask("INSERT INTO counters (stream, writer) SELECT n, 1 FROM generate_series(1, 20000) n");
  make_campaign(10);
  ask("ANALYZE");
  const auto plan = plan_of(sql::outstanding_messages, {"1", "test"});
  BOOST_TEST_INFO(plan);
  BOOST_TEST(plan.find("streams_open") != std::string::npos);
  BOOST_TEST_INFO(plan);
  BOOST_TEST(plan.find("Seq Scan on counters") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_list_with_a_rare_address_examines_a_bounded_part) {
  make_campaign(3000, false);
  ask("ANALYZE");
  const auto plan =
      plan_of(sql::find_messages, {"0", "9223372036854775807", "NULL", "NULL", "nobody@example.org",
                                   "NULL", "NULL", "50", "200"});
  BOOST_TEST_INFO(plan);
  BOOST_TEST(rows_of(plan, "messages_pkey") == 200);
  BOOST_TEST_INFO(plan);
  BOOST_TEST(plan.find("Seq Scan on messages") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_sweep_reads_nothing_while_no_epoch_is_lost) {
  make_campaign(100);
  const auto plan = plan_of(sql::sweep_interrupted, {"0", "100", "1"});
  BOOST_TEST_INFO(plan);
  BOOST_TEST(plan.find("Scan on message_states m (never executed)") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
