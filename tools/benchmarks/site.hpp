/// Paceline as a user has it, once: a fresh database, a configuration, the node, campaigns.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/pool.hpp"
#include "tools/benchmarks/child_process.hpp"
#include "tools/benchmarks/cluster.hpp"
#include "tools/benchmarks/ses_stand_in.hpp"
#include "tools/benchmarks/stage.hpp"
#include "tools/benchmarks/start_times.hpp"
#include "tools/paceline/report.hpp"

namespace paceline::bench {

/// One route: `test:sim` of the simulated provider, or `live:eu-west-1` of SES.
struct site_settings {
  int shards = 4;
  double rate = 5000; ///< the provider's quota per second
  double rate_factor = 1.0;
  double latency_ms = 170;
  double jitter = 0.1;
  double tolerance = 1.15;
  bool ledger = true;
  /// Another database role for `serve`, so that its statements can be told from ours; must exist.
  std::string node_role = "paceline";
  /// Where a stand-in for SES is. The rate, latency and ledger are its own then.
  std::optional<ses_place> ses;
  std::vector<std::string> overrides; ///< `key=value` for every command
};

/// Everything throws `std::runtime_error` with what the program said. Not thread-safe.
class site {
public:
  /// Makes the database and migrates it; `on` must outlive the site.
  site(stage& with, cluster& on, const site_settings& settings);
  site(const site&) = delete;
  site& operator=(const site&) = delete;

  /// Starts `paceline serve` and waits until it owns every shard.
  void start_node();
  /// Throws too where the node could not drain.
  void stop_node();
  pid_t node_id() const { return node_->id(); }

  /// Ports of the node's listeners; both are free ones.
  int api_port() const { return port_of("api"); }
  int admin_port() const { return port_of("admin"); }
  /// A new API key of the environment with all scopes: its token.
  std::string make_key() const;

  /// `paceline send` of a campaign for that many recipients, without waiting for its end.
  stream_id send(std::int64_t recipients);
  /// Queues all of a campaign's messages now, as a node would do page by page.
  void expand(stream_id campaign);
  /// Watches until nothing of the campaign will change any more; calls `look` every `interval`.
  campaign_report watch(stream_id campaign, std::chrono::milliseconds interval,
                        const std::function<void(const campaign_view&)>& look = {});
  campaign_view view(stream_id campaign);

  const std::string& dsn() const { return dsn_; }
  std::vector<started_call> ledger() const;

private:
  std::string path(const char* kind) const;
  std::vector<std::string> command(const std::vector<std::string>& arguments) const;
  int port_of(const std::string& listener) const;
  void write_configuration(const site_settings& settings) const;
  std::string route_text(const site_settings& settings) const;
  std::int64_t owned_shards();
  void check_node();
  void show(const campaign_view& now);

  stage& with_;
  std::string dsn_, folder_, name_, node_role_, route_;
  std::vector<std::string> overrides_;
  int shards_;
  statement_counts counts_;
  std::optional<single_connection> connection_;
  std::unique_ptr<child_process> node_;
};

/// What is wrong with a finished campaign, as sentences: each recipient must have been accepted,
/// and exactly once. Without `calls` the ledger is not asked.
std::vector<std::string> problems_of(const campaign_view& campaign, const pace_figures* calls);

} // namespace paceline::bench
