#include "actors/node.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "actors/campaigns/campaigns.hpp"
#include "actors/cluster/cluster.hpp"
#include "actors/courier_desk.hpp"
#include "actors/database_post.hpp"
#include "actors/database_stores.hpp"
#include "actors/node_metrics.hpp"
#include "actors/node_providers.hpp"
#include "actors/pulse.hpp"
#include "actors/quota.hpp"
#include "actors/recorder.hpp"
#include "actors/supervisor.hpp"
#include "actors/sweeper.hpp"
#include "actors/waker.hpp"
#include "config/metric_list.hpp"
#include "storage/ownership.hpp"
#include "storage/schema.hpp"
#include "storage/wake_listener.hpp"
#include "storage/connections.hpp"
#include "transport/courier.hpp"
#include "transport/mail/unsubscribe_link.hpp"

namespace paceline {
namespace {

// Renewals must not wait behind a poll, hence two control connections.
constexpr int control_connections = 2;
constexpr std::size_t pool_queue = 1024;
// Prepared messages of some kilobytes each: a second of 2,000/s for one shard.
constexpr std::int32_t reserved_rows_bound = 2000;
constexpr nanoseconds listener_probe = std::chrono::seconds{5};

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string{name.data()} : "node";
}

policy_settings policy_of(const settings& config, const route_provider& provider) {
  policy_settings policy;
  policy.max_group = config.dispatch.max_group;
  policy.reserve_batch = config.dispatch.reserve_batch;
  policy.group_window = config.dispatch.group_window;
  policy.reserve_cap = std::min(reserved_rows_bound, config.dispatch.max_in_flight_per_shard);
  policy.in_flight_floor = config.dispatch.min_in_flight_per_shard;
  policy.in_flight_cap = config.dispatch.max_in_flight_per_shard;
  policy.batch = std::min(provider.batch, config.dispatch.max_group);
  return policy;
}

} // namespace

result<node_identity> enter_database(const settings& config, std::string_view version,
                                     logger& log) {
  statement_counts counts;
  auto connection = single_connection::open(pooled_connection(config), counts);
  if (!connection)
    return connection.failure();
  auto& db = connection->use();
  if (auto durable = check_durability(db); !durable)
    return durable.failure();
  if (auto schema = check_schema(db); !schema)
    return schema.failure();
  node_identity identity;
  identity.name = config.node.name.empty() ? host_name() : config.node.name;
  auto node = register_node(db, identity.name, version);
  if (!node)
    return node.failure();
  identity.id = *node;
  auto lane = next_id_lane(db);
  if (!lane)
    return lane.failure();
  identity.id_lane = *lane;
  for (const auto& [text, how] : config.routes) {
    auto seeded = seed_route(db, *route_name::parse(text), how.shards);
    if (!seeded)
      return seeded.failure();
    if (seeded->shard_count != how.shards)
      log.warn("the database has another shard count for the route; the configuration's is ignored",
               {{"route", text}, {"database", seeded->shard_count}, {"configuration", how.shards}});
    identity.routes.push_back({seeded->route, text, how});
  }
  return identity;
}

class running_node::impl {
public:
  impl(const settings& config, const node_identity& identity, node_surroundings around)
      : config_(config), identity_(identity), around_(std::move(around)), log_(around_.log),
        measured_(around_.measured),
        control_(pooled_connection(config), control_connections, pool_queue, counts_),
        background_(pooled_connection(config), 1, pool_queue, counts_),
        recording_(pooled_connection(config), config.recording.connections, pool_queue, counts_),
        backlog_(config.dispatch.max_outcomes_waiting), stores_(shard_pools(), backlog_),
        records_(recording_,
                 {config.dispatch.throttle_backoff_first, config.dispatch.throttle_backoff_max},
                 writer()),
        courier_({config.dispatch.call_timeout, std::chrono::milliseconds{5}}, sink_, time_),
        desk_(courier_) {
    add_providers();
    start_system();
    spawn_actors();
    watch();
    open_doors();
  }

  ~impl() {
    around_.health.set_draining();
    if (closing_.joinable())
      closing_.join();
    around_.service.close();
    watched_.clear();
    listener_.reset();
    courier_.stop(nanoseconds{0});
    recording_.stop();
    background_.stop();
    control_.stop();
    stores_.stop();
    for (auto& actor : all_)
      caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
    all_.clear();
    quotas_.clear();
    supervisor_ = nullptr;
    campaigns_ = nullptr;
    cluster_ = nullptr;
    system_.reset();
  }

  void use_rates(const settings& config) {
    for (const auto& [route, quota] : quotas_)
      if (const auto found = config.routes.find(route); found != config.routes.end())
        caf::anon_send(quota, change_rate{found->second.rate_factor,
                                          rate::per_second(found->second.target_rate)});
  }

  void drain() {
    around_.health.set_draining();
    caf::anon_send(supervisor_, drain_node{});
    // A request that the database holds up must hold up neither the drain nor a second signal.
    closing_ = std::thread([&service = around_.service] { service.close(); });
  }

  bool wait_drained(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    return done_.wait_for(lock, patience, [this] { return drained_; });
  }

private:
  /// What comes from outside: wake-ups of other nodes, and requests.
  void open_doors() {
    const std::vector<caf::actor_addr> here{supervisor_.address(), campaigns_.address(),
                                            cluster_.address()};
    listener_.emplace(direct_connection(config_),
                      std::chrono::duration_cast<std::chrono::milliseconds>(listener_probe),
                      [here](std::string_view route) {
                        for (const auto& actor : here)
                          tell(actor, wake_route{std::string{route}});
                      });
    const auto waker = keep(system_->spawn<waker_actor>(waker_options{}, background_, time_, here));
    keep(system_->spawn<pulse_actor>(around_.health));
    around_.health.use(control_);
    around_.service.open(
        {identity_.id_lane, counts_,
         [to = waker.address()](const std::string& route) { tell(to, wake_route{route}); },
         links_});
  }

  std::int32_t writer() const { return static_cast<std::int32_t>(identity_.id.value()); }

  pool_store_directory::make_options shard_pools() const {
    pool_store_directory::make_options pools;
    for (const auto& route : identity_.routes) {
      auto& pool = pools[route.id];
      pool.connection = pooled_connection(config_);
      pool.connections = route.how.pool;
      pool.preflight_retry = config_.dispatch.preflight_retry;
      pool.writer = writer();
      pool.log = &log_;
    }
    return pools;
  }

  void add_providers() {
    for (const auto& route : identity_.routes) {
      auto made = provider_of(config_, {identity_.name, route.text}, log_);
      courier_.add_route(route.id, made.make, call_instruments{measured_, route.text});
      providers_.emplace(route.id, std::move(made));
    }
    if (!config_.unsubscribe.base_url.empty())
      links_ = std::make_shared<const unsubscribe_links>(config_.unsubscribe.base_url,
                                                         config_.unsubscribe.keys);
  }

  void start_system() {
    // The default policy burns a tenth of a core when idle; two threads, because actors never
    // block.
    caf_config_.set("scheduler.policy", caf::atom("sharing"));
    caf_config_.set("scheduler.max-threads", 2u);
    system_.emplace(caf_config_);
  }

  void spawn_actors() {
    campaigns_options campaigns;
    campaigns.expansion = {config_.expansion.page, config_.expansion.buffer,
                           config_.expansion.buffer_min, config_.expansion.buffer_max};
    campaigns.writer = writer();
    for (const auto& route : identity_.routes)
      campaigns.routes[route.id] = route.text;
    campaigns_ = keep(system_->spawn<campaigns_actor>(campaigns, background_, time_, log_));

    recorder_options recording;
    recording.batch = static_cast<std::size_t>(config_.recording.batch);
    recording.delay = config_.recording.delay;
    recording.statements_at_once = static_cast<std::size_t>(config_.recording.connections);
    recording.measured = recorder_instruments_of(measured_, campaigns.routes);
    auto recorder = keep(system_->spawn<recorder_actor>(recording, records_, backlog_, time_, log_,
                                                        campaigns_.address()));
    sink_.use(recorder.address());

    sweeper_options sweeping;
    sweeping.interrupted_after = config_.dispatch.interrupted_after;
    sweeping.every = std::min<nanoseconds>(sweeping.every, sweeping.interrupted_after);
    sweeping.writer = writer();
    keep(system_->spawn<sweeper_actor>(sweeping, background_, log_, campaigns_.address()));

    auto supervisor = supervisor_options_of();
    supervisor_surroundings around{control_, stores_, desk_, time_, log_, recorder, campaigns_};
    supervisor_ =
        keep(system_->spawn<supervisor_actor>(std::move(supervisor), std::move(around), [this] {
          std::lock_guard lock(mutex_);
          drained_ = true;
          done_.notify_all();
        }));
    cluster_ = keep(system_->spawn<cluster_actor>(cluster_options_of(), control_, desk_, time_,
                                                  log_, supervisor_.address()));
    caf::anon_send(supervisor_, meet_cluster{cluster_});
  }

  supervisor_options supervisor_options_of() {
    supervisor_options options;
    options.node_name = identity_.name;
    options.poll = config_.dispatch.poll;
    options.run = config_.dispatch.run;
    options.clock_error = measured_.get(metric::clock_error);
    for (const auto& route : identity_.routes) {
      quota_options quota;
      quota.route = route.id;
      quota.route_text = route.text;
      quota.node = identity_.id;
      quota.rate_factor = route.how.rate_factor;
      quota.absolute = rate::per_second(route.how.target_rate);
      quota.cache = config_.dispatch.quota_cache;
      quota.brake = config_.dispatch.brake;
      quota.measured = route_instruments{measured_, route.text};
      auto actor = keep(system_->spawn<quota_actor>(quota, control_, desk_, time_, log_));
      quotas_[route.text] = actor;
      options.routes.push_back(supervise(route, actor, quota.measured));
    }
    return options;
  }

  supervised_route supervise(const node_identity::served_route& route, const caf::actor& quota,
                             const route_instruments& measured) const {
    const auto& provider = providers_.at(route.id);
    supervised_route made{route.id, route.text, quota, policy_of(config_, provider), measured};
    made.prepare.form = provider.form;
    made.prepare.environment = route_name::parse(route.text)->environment;
    made.prepare.links = links_.get();
    made.uploads = provider.uploads;
    return made;
  }

  cluster_options cluster_options_of() const {
    cluster_options options;
    options.node = identity_.id;
    options.lease = config_.cluster.lease;
    options.margin = config_.cluster.margin;
    options.renew = config_.cluster.renew;
    options.stop_requested = around_.stop_requested;
    for (const auto& route : identity_.routes)
      options.routes.push_back(route.id);
    return options;
  }

  void watch() {
    watched_.push_back(watch_pool(measured_, "control", control_));
    watched_.push_back(watch_pool(measured_, "background", background_));
    watched_.push_back(watch_pool(measured_, "recording", recording_));
    watched_.push_back(watch_statements(measured_, counts_));
    watched_.push_back(watch_shard_stores(measured_, stores_));
    watched_.push_back(watch_courier(measured_, courier_));
    watched_.push_back(watch_backlog(measured_, backlog_));
    watched_.push_back(watch_process(measured_));
  }

  /// One of a kind: without it the node would live on and do nothing. Its end by a bug ends the
  /// process; ownership runs out and what was in flight is swept, as after any crash.
  caf::actor keep(caf::actor actor) {
    actor->attach_functor([this, id = actor->id()](const caf::error& reason) {
      if (!reason || reason == caf::exit_reason::user_shutdown)
        return;
      log_.error("an actor that the node can't do without has died; the process ends",
                 {{"actor", id}, {"reason", caf::to_string(reason)}});
      std::_Exit(1);
    });
    all_.push_back(actor);
    return actor;
  }

  settings config_;
  node_identity identity_;
  node_surroundings around_;
  logger& log_;
  metrics& measured_;
  machine_boot_time time_;
  statement_counts counts_;
  database_pool control_, background_, recording_;
  record_backlog backlog_;
  pool_store_directory stores_;
  pool_record_store records_;
  recorder_sink sink_;
  std::map<route_id, route_provider> providers_;
  std::shared_ptr<const unsubscribe_links> links_; ///< null: none are configured
  courier courier_;
  courier_desk desk_;
  caf::actor_system_config caf_config_;
  std::optional<caf::actor_system> system_;
  std::vector<caf::actor> all_;
  caf::actor supervisor_, campaigns_, cluster_;
  std::map<std::string, caf::actor> quotas_; ///< by route
  std::optional<wake_listener> listener_;
  std::vector<scrape_hook> watched_;
  std::thread closing_; ///< of the service, from the drain on
  std::mutex mutex_;
  std::condition_variable done_;
  bool drained_ = false;
};

running_node::running_node(const settings& config, const node_identity& identity,
                           node_surroundings around)
    : impl_(std::make_unique<impl>(config, identity, std::move(around))) {}
running_node::~running_node() = default;
void running_node::use_rates(const settings& config) {
  impl_->use_rates(config);
}
void running_node::drain() {
  impl_->drain();
}
bool running_node::wait_drained(std::chrono::milliseconds patience) {
  return impl_->wait_drained(patience);
}

} // namespace paceline
