#include "tools/benchmarks/site.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <rapidjson/document.h>

#include "config/text.hpp"
#include "storage/campaigns.hpp"
#include "storage/overview.hpp"
#include "tools/benchmarks/ledger_file.hpp"
#include "tools/paceline/program.hpp"
#include "tools/paceline/show.hpp"

namespace paceline::bench {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds node_start_limit{30};
/// Longest time without any progress of a campaign.
constexpr std::chrono::seconds standstill_limit{60};

template <class T>
T value_of(result<T> maybe) {
  if (!maybe)
    throw std::runtime_error(maybe.failure().text);
  return std::move(*maybe);
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  if (!file.flush())
    throw std::runtime_error("can't write " + path);
}

/// Recipients as an ordinary newsletter has them: an address and two fields.
void write_audience(const std::string& path, std::int64_t recipients) {
  std::ofstream file(path);
  file << "email,name,city\n";
  for (std::int64_t i = 1; i <= recipients; ++i)
    file << "user" << i << "@simulator.paceline.test,Name " << i << ",City " << i % 100 << "\n";
  if (!file.flush())
    throw std::runtime_error("can't write " + path);
}

std::string dsn_for(const std::string& dsn, const std::string& role) {
  const std::string ours = "user=paceline";
  auto other = dsn;
  return other.replace(other.find(ours), ours.size(), "user=" + role);
}

} // namespace

site::site(stage& with, cluster& on, const site_settings& settings)
    : with_(with), dsn_(on.create_database()), folder_(on.folder()),
      name_(dsn_.substr(dsn_.rfind('=') + 1)), node_role_(settings.node_role),
      route_(settings.ses ? "live:eu-west-1" : "test:sim"), overrides_(settings.overrides),
      shards_(settings.shards) {
  write_configuration(settings);
  run_to_end(command({"migrate"}), path("errors"));
  connection_options options;
  options.dsn = dsn_;
  options.application_name = "paceline-bench";
  connection_.emplace(value_of(single_connection::open(options, counts_)));
}

std::string site::path(const char* kind) const {
  return folder_ + "/" + name_ + "." + kind;
}

std::vector<std::string> site::command(const std::vector<std::string>& arguments) const {
  std::vector<std::string> whole{with_.options().program, "--config", path("toml")};
  for (const auto* const list : {&overrides_, &with_.options().overrides})
    for (const auto& pair : *list) {
      whole.push_back("--set");
      whole.push_back(pair);
    }
  whole.insert(whole.end(), arguments.begin(), arguments.end());
  return whole;
}

void site::write_configuration(const site_settings& settings) const {
  const auto number = [](double value) { return std::to_string(value); };
  write_file(path("toml"),
             "[database]\ndsn = " + json_string(dsn_) + "\n[node]\nname = \"bench\"\n"
                 + route_text(settings) + "[simulator]\nlatency_ms = " + number(settings.latency_ms)
                 + "\nlatency_jitter = " + number(settings.jitter) + "\nrate = "
                 + number(settings.rate) + "\ntolerance = " + number(settings.tolerance)
                 + "\nledger = " + json_string(settings.ledger ? path("ledger") : "")
                 + "\n[api]\nlisten = \"127.0.0.1:0\"\n[admin]\nlisten = \"127.0.0.1:0\"\n");
}

std::string site::route_text(const site_settings& settings) const {
  const auto shared = "\nshards = " + std::to_string(settings.shards)
                      + "\nrate_factor = " + std::to_string(settings.rate_factor) + "\n";
  if (!settings.ses)
    return "[environments.test]\nkind = \"test\"\n[routes.\"test:sim\"]\n"
           "provider = \"simulated\""
           + shared;
  return "[unsubscribe]\nbase_url = \"https://mail.example.com\"\n"
         "keys = [\"0123456789abcdef0123456789abcdef\"]\n"
         "[environments.live]\nkind = \"live\"\n[routes.\"live:eu-west-1\"]\n"
         "provider = \"ses\"\nenable_live = true\nallow_private = true\n"
         "credentials = \"environment\"\nendpoint = "
         + json_string(settings.ses->endpoint) + "\nca_file = " + json_string(settings.ses->ca_file)
         + shared;
}

void site::start_node() {
  auto arguments = command({"serve"});
  if (node_role_ != "paceline") {
    arguments.push_back("--set");
    arguments.push_back("database.dsn=" + dsn_for(dsn_, node_role_));
  }
  node_ = std::make_unique<child_process>(arguments, path("log"));
  const auto begin = steady_clock::now();
  while (owned_shards() < shards_) {
    check_node();
    if (steady_clock::now() - begin > node_start_limit)
      throw std::runtime_error("serve does not own its shards after 30 s\n" + tail_of(path("log")));
    with_.sleep(std::chrono::milliseconds{20});
  }
}

std::int64_t site::owned_shards() {
  std::int64_t owned = 0;
  for (const auto& shard : value_of(read_overview(connection_->use())).shards)
    owned += shard.owner_id.value() != 0 ? 1 : 0;
  return owned;
}

void site::check_node() {
  if (node_ && !node_->is_running())
    throw std::runtime_error("serve ended with exit status " + std::to_string(node_->stop()) + "\n"
                             + tail_of(path("log")));
}

void site::stop_node() {
  const auto status = node_->stop();
  node_.reset();
  if (status != 0)
    throw std::runtime_error("serve did not drain: exit status " + std::to_string(status) + "\n"
                             + tail_of(path("log")));
}

/// The line `serving` names them: "api":"127.0.0.1:40123".
int site::port_of(const std::string& listener) const {
  std::ifstream file(path("log"));
  const std::string log{std::istreambuf_iterator<char>(file), {}};
  const auto mark = "\"" + listener + "\":\"127.0.0.1:";
  const auto at = log.find(mark);
  if (at == std::string::npos)
    throw std::runtime_error("serve does not say where its " + listener + " listens\n"
                             + tail_of(path("log")));
  return std::stoi(log.substr(at + mark.size()));
}

std::string site::make_key() const {
  const auto answer = run_to_end(command({"keys", "create", "--environment", "test", "--name",
                                          "bench", "--scope", "admin", "--json"}),
                                 path("errors"));
  rapidjson::Document made;
  made.Parse(answer.c_str());
  if (made.HasParseError() || !made.IsObject() || !made.HasMember("token"))
    throw std::runtime_error("keys create answered: " + answer);
  return made["token"].GetString();
}

stream_id site::send(std::int64_t recipients) {
  write_audience(path("csv"), recipients);
  const auto answer = run_to_end(
      command({"send", "--route", route_, "--csv", path("csv"), "--name", name_, "--from",
               "News <news@example.com>", "--subject", "News for {{name}}", "--text",
               "Hello {{name}},\n\nthis is what happened in {{city}} this week.\n", "--json"}),
      path("errors"));
  std::filesystem::remove(path("csv"));
  rapidjson::Document stored;
  stored.Parse(answer.c_str());
  if (stored.HasParseError() || !stored.IsObject() || !stored.HasMember("campaign"))
    throw std::runtime_error("send answered: " + answer);
  return stream_id{std::stoll(stored["campaign"].GetString())};
}

void site::expand(stream_id campaign) {
  constexpr std::int32_t page = 2000;
  while (!value_of(expand_page(connection_->use(), campaign, page, operator_writer)).done)
    with_.sleep(std::chrono::milliseconds{0});
}

campaign_view site::view(stream_id campaign) {
  return value_of(show_campaign(connection_->use(), campaign));
}

void site::show(const campaign_view& now) {
  with_.progress(grouped(now.expanded - now.open) + " of " + grouped(now.audience)
                 + " done, target " + rate_text(now.target_per_second)
                 + (now.throttled > 0 ? ", " + grouped(now.throttled) + " throttled" : ""));
}

campaign_report site::watch(stream_id campaign, std::chrono::milliseconds interval,
                            const std::function<void(const campaign_view&)>& look) {
  auto last_move = steady_clock::now();
  auto quiet_until = last_move + std::chrono::seconds{2};
  std::int64_t done_before = -1;
  while (true) {
    const auto now = view(campaign);
    if (look)
      look(now);
    if (is_over(now))
      return value_of(read_report(connection_->use(), campaign));
    if (steady_clock::now() > quiet_until)
      show(now);
    if (const auto done = now.expanded - now.open; done != done_before) {
      done_before = done;
      last_move = steady_clock::now();
    } else if (steady_clock::now() - last_move > standstill_limit) {
      throw std::runtime_error("the campaign stands still at " + std::to_string(done) + " of "
                               + std::to_string(now.audience) + "\n" + tail_of(path("log")));
    }
    check_node();
    with_.sleep(interval);
  }
}

std::vector<started_call> site::ledger() const {
  return read_ledger(path("ledger"));
}

std::vector<std::string> problems_of(const campaign_view& campaign, const pace_figures* calls) {
  std::vector<std::string> problems;
  if (campaign.accepted != campaign.audience)
    problems.push_back(grouped(campaign.accepted) + " of " + grouped(campaign.audience)
                       + " recipients are accepted");
  if (campaign.unknown != 0)
    problems.push_back(grouped(campaign.unknown) + " are unknown");
  if (calls != nullptr && calls->repeats != 0)
    problems.push_back(grouped(calls->repeats) + " calls repeat a message");
  if (calls != nullptr && calls->calls - calls->repeats != campaign.audience)
    problems.push_back("the ledger holds " + grouped(calls->calls - calls->repeats) + " of "
                       + grouped(campaign.audience) + " messages");
  return problems;
}

} // namespace paceline::bench
