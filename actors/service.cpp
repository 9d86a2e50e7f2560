#include "actors/service.hpp"

#include <atomic>
#include <optional>
#include <utility>

#include "actors/node_metrics.hpp"
#include "config/metric_list.hpp"
#include "storage/connections.hpp"
#include "transport/api/service.hpp"
#include "transport/http/problem.hpp"
#include "transport/http/server.hpp"

namespace paceline {
namespace {

constexpr std::size_t pool_queue = 4096;

listener_options options_of(const std::string& name, const listener_settings& listener,
                            const http_settings& bounds) {
  listener_options options;
  options.name = name;
  options.address = listener.listen;
  options.tls_certificate = listener.tls_certificate;
  options.tls_key = listener.tls_key;
  options.threads = listener.threads;
  options.max_connections = listener.max_connections;
  options.max_body = static_cast<std::size_t>(bounds.max_body_bytes);
  options.max_headers = static_cast<std::size_t>(bounds.max_headers);
  options.max_header_bytes = static_cast<std::size_t>(bounds.max_header_bytes);
  options.header_timeout = bounds.header_timeout;
  options.body_timeout = bounds.body_timeout;
  options.write_timeout = bounds.write_timeout;
  options.idle_timeout = bounds.idle_timeout;
  return options;
}

http_response not_yet(std::string_view why) {
  auto answer = problem(503, "unavailable", why);
  answer.headers.emplace_back("Retry-After", "1");
  return answer;
}

} // namespace

class node_service::impl {
public:
  impl(const settings& config, logger& log, metrics& numbers, node_health& health)
      : config_(config), log_(log), numbers_(numbers), health_(health),
        bodies_(config.http.max_body_bytes_in_flight),
        admin_answers_([&health] { return health.look(); },
                       [&numbers] { return numbers.exposition(); }) {}
  ~impl() {
    close();
    if (admin_)
      admin_->stop();
  }
  impl(const impl&) = delete;
  impl& operator=(const impl&) = delete;

  result<done> listen() {
    if (auto bound =
            bind(admin_, "admin", config_.admin,
                 [this](const http_request& request) { return admin_answers_.answer(request); });
        !bound)
      return bound;
    if (auto bound = bind(feedback_, "feedback", config_.feedback,
                          [](const http_request&) {
                            return problem(404, "not_found", "No provider reports here yet.");
                          });
        !bound)
      return bound;
    return bind(api_, "api", config_.api, [this](const http_request& request) {
      auto* const running = answering_.load();
      return running ? running->answer(request) : not_yet("The node is starting; try again.");
    });
  }

  void open(service_parts parts) {
    if (!api_)
      return;
    api_options options;
    options.id_lane = parts.id_lane;
    options.links = parts.links;
    options.intake_statements = std::max(1, config_.api.database_connections - 1);
    options.instruments.on_request = count_api_requests(numbers_);
    options.instruments.on_intake =
        [groups = numbers_.get(metric::intake_group_size)](std::size_t calls) {
          groups.observe(static_cast<double>(calls));
        };
    pool_.emplace(pooled_connection(config_), config_.api.database_connections, pool_queue,
                  parts.counts);
    watched_pool_ = watch_pool(numbers_, "api", *pool_);
    answers_.emplace(
        options, *pool_, std::move(parts.wake), [this] { return health_.look(); }, log_);
    answering_ = &*answers_;
  }

  void close() {
    for (auto* const one : {&api_, &feedback_})
      if (*one)
        (*one)->stop();
    answering_ = nullptr; // nobody is inside any more
    answers_.reset();
    watched_pool_ = {};
    pool_.reset();
  }

  std::vector<log_field> addresses() const {
    std::vector<log_field> all;
    add_address(all, "api", config_.api, api_);
    add_address(all, "feedback", config_.feedback, feedback_);
    add_address(all, "admin", config_.admin, admin_);
    return all;
  }

  void reload_tls() {
    for (auto* const one : {&api_, &feedback_, &admin_})
      if (*one)
        if (const auto read = (*one)->reload_tls(); !read)
          log_.error("a certificate can't be used; the one before stays in use",
                     {{"error", read.failure().text}});
  }

private:
  using server = std::unique_ptr<http_server>;

  result<done> bind(server& into, const std::string& name, const listener_settings& listener,
                    http_server::handler answer) {
    if (listener.listen.empty())
      return done{};
    auto started = http_server::start(options_of(name, listener, config_.http), bodies_, log_,
                                      std::move(answer));
    if (!started)
      return error{started.failure().kind, name + ".listen: " + started.failure().text};
    into = std::move(*started);
    watched_.push_back(
        watch_listener(numbers_, name, [bound = into.get()] { return bound->counts(); }));
    return done{};
  }

  static void add_address(std::vector<log_field>& to, std::string_view name,
                          const listener_settings& listener, const server& bound) {
    if (!bound)
      return;
    // As configured, with the port that it really is.
    to.emplace_back(name, listener.listen.substr(0, listener.listen.rfind(':') + 1)
                              + std::to_string(bound->port()));
  }

  const settings config_;
  logger& log_;
  metrics& numbers_;
  node_health& health_;
  body_budget bodies_;
  admin_service admin_answers_;
  std::optional<database_pool> pool_;
  std::optional<api_service> answers_;
  std::atomic<api_service*> answering_{nullptr};
  scrape_hook watched_pool_;
  server api_, feedback_, admin_;
  std::vector<scrape_hook> watched_; ///< of the listeners
};

node_service::node_service(std::unique_ptr<impl> made) : impl_(std::move(made)) {}
node_service::~node_service() = default;

result<std::unique_ptr<node_service>> node_service::listen(const settings& config, logger& log,
                                                           metrics& numbers, node_health& health) {
  auto made = std::make_unique<impl>(config, log, numbers, health);
  if (auto bound = made->listen(); !bound)
    return bound.failure();
  return std::unique_ptr<node_service>{new node_service(std::move(made))};
}

void node_service::open(service_parts parts) {
  impl_->open(std::move(parts));
}
void node_service::close() {
  impl_->close();
}
std::vector<log_field> node_service::addresses() const {
  return impl_->addresses();
}
void node_service::reload_tls() {
  impl_->reload_tls();
}

} // namespace paceline
