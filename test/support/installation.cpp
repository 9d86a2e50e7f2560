#include "test/support/installation.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <pqxx/pqxx>
#include <rapidjson/document.h>

#include "storage/model/state.hpp"
#include "test/support/promises.hpp"

namespace paceline::test {
namespace {

std::string make_folder() {
  char path[] = "/tmp/paceline-installation-XXXXXX";
  if (::mkdtemp(path) == nullptr)
    throw std::system_error(errno, std::generic_category(), path);
  return path;
}

/// Everything that a fault makes the program wait for is short here.
std::string configuration(const std::string& dsn, const std::string& ledger) {
  return "[database]\ndsn = \"" + dsn
         + "\"\n"
           "[environments.test]\nkind = \"test\"\n"
           "[routes.\"test:sim\"]\nshards = 4\nprovider = \"simulated\"\n"
           "[dispatch]\ncall_timeout_ms = 1000\ninterrupted_after_ms = 2100\npoll_ms = 200\n"
           "throttle_backoff_first_ms = 200\n"
           "[cluster]\nlease_ms = 1000\nmargin_ms = 100\nrenew_ms = 200\n"
           "[simulator]\nlatency_ms = 60\nrate = 200\nledger = \""
         + ledger
         + "\"\n"
           "[api]\nlisten = \"127.0.0.1:0\"\n[admin]\nlisten = \"127.0.0.1:0\"\n"
           "[log]\nformat = \"json\"\n";
}

} // namespace

/// The test's own connection. pqxx's headers are slow to compile, so it stays in this file.
class installation::database {
public:
  explicit database(const std::string& dsn) : connection_(dsn + " application_name=test") {}
  pqxx::result rows(const std::string& statement) {
    return pqxx::nontransaction(connection_).exec(statement);
  }
  pqxx::connection& connection() { return connection_; }

private:
  pqxx::connection connection_;
};

private_postgres& installation::cluster() {
  static private_postgres started;
  return started;
}

installation::installation(std::vector<std::string> settings, bool migrated)
    : settings_(std::move(settings)), folder_(make_folder()),
      dsn_(cluster().create_database("installation")) {
  write("paceline.toml", configuration(dsn_, ledger_file()));
  if (migrated)
    must_run({"migrate"});
}

installation::~installation() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::vector<std::string> installation::with_configuration(
    std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), PACELINE_PROGRAM);
  arguments.insert(arguments.end(), {"--config", folder_ + "/paceline.toml"});
  for (const auto& setting : settings_)
    arguments.insert(arguments.end(), {"--set", setting});
  return arguments;
}

program_end installation::run(std::vector<std::string> arguments) const {
  return run_program(with_configuration(std::move(arguments)));
}

std::string installation::must_run(std::vector<std::string> arguments) const {
  std::string command;
  for (const auto& argument : arguments)
    command += argument + " ";
  auto end = run(std::move(arguments));
  if (end.status != 0)
    throw std::runtime_error(command + "gave " + std::to_string(end.status) + "\n" + end.output
                             + end.errors);
  return end.output;
}

std::unique_ptr<served_node> installation::start(const std::string& name,
                                                 const std::vector<std::string>& settings) const {
  auto arguments = with_configuration({"serve"});
  arguments.insert(arguments.end(), {"--set", "node.name=" + name});
  for (const auto& setting : settings)
    arguments.insert(arguments.end(), {"--set", setting});
  return std::make_unique<served_node>(
      std::move(arguments), folder_ + "/" + name + "-" + std::to_string(++files_) + ".log");
}

std::unique_ptr<served_node> installation::serve(const std::string& name,
                                                 const std::vector<std::string>& settings) const {
  auto node = start(name, settings);
  node->wait_until_serving();
  return node;
}

std::vector<std::string> installation::addresses(int count) {
  std::vector<std::string> all;
  for (int i = 1; i <= count; ++i)
    all.push_back("r" + std::to_string(i) + "@example.com");
  return all;
}

std::int64_t installation::send(int recipients) const {
  return send(addresses(recipients));
}

std::vector<std::string> installation::send_command(const std::vector<std::string>& recipients,
                                                    const std::vector<std::string>& more) const {
  std::string csv = "email\n";
  for (const auto& recipient : recipients)
    csv += recipient + "\n";
  std::vector<std::string> arguments{"send",
                                     "--route",
                                     "test:sim",
                                     "--from",
                                     "news@example.com",
                                     "--subject",
                                     "News",
                                     "--text",
                                     "Hello",
                                     "--csv",
                                     write("audience-" + std::to_string(++files_) + ".csv", csv)};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

std::int64_t installation::send(const std::vector<std::string>& recipients,
                                const std::vector<std::string>& more) const {
  auto arguments = send_command(recipients, more);
  arguments.push_back("--json");
  const auto output = must_run(std::move(arguments));
  rapidjson::Document json;
  json.Parse(output.c_str());
  if (json.HasParseError())
    throw std::runtime_error("not JSON: " + output);
  return std::stoll(json["campaign"].GetString());
}

std::string installation::write(const std::string& name, const std::string& text) const {
  const auto path = folder_ + "/" + name;
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush())
    throw std::runtime_error("can't write " + path);
  return path;
}

installation::database& installation::connected() {
  if (!database_)
    database_ = std::make_unique<database>(dsn_);
  return *database_;
}

std::string installation::ask(const std::string& statement) {
  try {
    const auto rows = connected().rows(statement);
    return rows.empty() || rows[0][0].is_null() ? "" : rows[0][0].c_str();
  } catch (const pqxx::failure&) {
    database_.reset();
    throw;
  }
}

int installation::count(const std::string& statement) {
  return std::stoi(ask(statement));
}

std::set<std::int64_t> installation::ids(const std::string& statement) {
  std::set<std::int64_t> all;
  for (const auto& row : connected().rows(statement))
    all.insert(row[0].as<std::int64_t>());
  return all;
}

bool installation::holds(const std::string& condition) {
  try {
    return ask("SELECT " + condition) == "t";
  } catch (const pqxx::failure&) {
    return false;
  }
}

std::string installation::state_of(std::int64_t campaign) {
  return ask("SELECT state FROM campaigns WHERE id = " + std::to_string(campaign));
}

bool installation::is_over(std::int64_t campaign) {
  return holds("EXISTS (SELECT FROM campaigns WHERE id = " + std::to_string(campaign)
               + " AND state IN ('finished', 'failed', 'canceled')"
                 " AND (SELECT sum(open) FROM counters WHERE stream = campaigns.id) = 0)");
}

std::string installation::states_of(std::int64_t campaign) {
  std::string all;
  for (const auto& row :
       connected().rows("SELECT status, count(*) FROM message_states WHERE stream = "
                        + std::to_string(campaign) + " GROUP BY status ORDER BY status"))
    all += (all.empty() ? "" : " ")
           + std::string(name(static_cast<message_status>(row[0].as<int>()))) + "="
           + row[1].c_str();
  return all;
}

std::string installation::broken(const std::vector<ledger_line>& ledger) {
  return broken_text(connected().connection(), ledger);
}

void installation::wait_until_no_node_is_connected() {
  if (!eventually([this] {
        return holds("NOT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database()"
                     " AND application_name = 'paceline')");
      }))
    throw std::runtime_error("sessions of a node stay");
}

} // namespace paceline::test
