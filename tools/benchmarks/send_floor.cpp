#include "tools/benchmarks/send_floor.hpp"

#include <atomic>
#include <chrono>
#include <exception>
#include <fstream>
#include <iterator>
#include <mutex>
#include <stdexcept>
#include <sys/socket.h>
#include <thread>
#include <vector>

#include <httplib.h>
#include <rapidjson/document.h>

#include "tools/benchmarks/database.hpp"
#include "tools/benchmarks/floor_loop.hpp"

namespace paceline::bench {
namespace {

std::map<std::string, std::string> floor_queries() {
  std::ifstream file(PACELINE_SOURCE_DIR "/tools/benchmarks/floor.sql");
  return named_blocks(std::string{std::istreambuf_iterator<char>(file), {}});
}

/// Connections for whichever thread serves; there are as many as there are clients.
class connection_stack {
public:
  void put(std::unique_ptr<database> one) {
    std::lock_guard lock(mutex_);
    free_.push_back(std::move(one));
  }
  std::unique_ptr<database> take() {
    std::lock_guard lock(mutex_);
    auto one = std::move(free_.back());
    free_.pop_back();
    return one;
  }

private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<database>> free_;
};

std::string batch_arrays(std::int64_t first, std::int64_t count, std::string& recipients,
                         std::string& fields) {
  std::string ids = recipients = fields = "{";
  for (auto id = first; id < first + count; ++id) {
    const auto number = std::to_string(id);
    const char* const comma = id == first ? "" : ",";
    ids.append(comma).append(number);
    recipients.append(comma).append("user").append(number).append("@simulator.paceline.test");
    fields.append(comma)
        .append("\"{\\\"name\\\":\\\"Name ")
        .append(number)
        .append("\\\",\\\"city\\\":\\\"City\\\"}\"");
  }
  recipients.push_back('}');
  fields.push_back('}');
  ids.push_back('}');
  return ids;
}

} // namespace

class send_floor::impl {
public:
  impl(const std::string& dsn, int clients) {
    const auto queries = floor_queries();
    database(dsn).run(queries.at("floor_stream"));
    for (int i = 0; i < clients; ++i) {
      auto one = std::make_unique<database>(dsn);
      one->prepare("floor_take_one", queries.at("floor_take_one"));
      connections_.put(std::move(one));
    }
    server_.new_task_queue = [clients] {
      return new httplib::ThreadPool(static_cast<std::size_t>(clients));
    };
    server_.set_tcp_nodelay(true);
    server_.set_keep_alive_max_count(1'000'000'000);
    server_.Post("/v1/send", [this](const httplib::Request& request, httplib::Response& response) {
      take(request.body, response);
    });
    int socket = -1;
    server_.set_socket_options([&socket](int made) { socket = made; });
    port_ = server_.bind_to_any_port("127.0.0.1");
    // Its backlog of 5 would lose connections of 64 clients.
    if (port_ <= 0 || ::listen(socket, 1024) != 0)
      throw std::runtime_error("the floor's server can't bind");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
  }
  impl(const impl&) = delete;
  impl& operator=(const impl&) = delete;
  ~impl() {
    server_.stop();
    thread_.join();
  }

  int port() const { return port_; }

private:
  void take(const std::string& body, httplib::Response& response) {
    rapidjson::Document given;
    given.Parse(body.c_str());
    const auto id = std::to_string(++last_id_);
    auto on = connections_.take();
    on->run_prepared("floor_take_one", {id.c_str(), given["to"].GetString(),
                                        given["subject"].GetString(), given["text"].GetString()});
    connections_.put(std::move(on));
    response.status = 202;
    response.set_content("{\"id\":\"" + id + "\"}", "application/json");
  }

  connection_stack connections_;
  httplib::Server server_;
  int port_ = 0;
  std::atomic<std::int64_t> last_id_{0};
  std::thread thread_;
};

send_floor::send_floor(const std::string& dsn, int clients)
    : impl_(std::make_unique<impl>(dsn, clients)) {}
send_floor::~send_floor() = default;
int send_floor::port() const {
  return impl_->port();
}

double run_batch_floor(const std::string& dsn, std::int64_t messages, std::int64_t per_call,
                       int calls_at_once) {
  const auto queries = floor_queries();
  database(dsn).run(queries.at("floor_stream"));
  std::atomic<std::int64_t> next{1};
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(calls_at_once));
  std::vector<std::thread> threads;
  const auto begin = std::chrono::steady_clock::now();
  for (auto& failure : failures)
    threads.emplace_back([&dsn, &queries, &next, &failure, messages, per_call] {
      try {
        database on(dsn);
        on.prepare("floor_take_many", queries.at("floor_take_many"));
        std::string recipients, fields;
        for (auto first = next.fetch_add(per_call); first <= messages;
             first = next.fetch_add(per_call)) {
          const auto ids = batch_arrays(first, per_call, recipients, fields);
          on.run_prepared("floor_take_many", {std::to_string(first).c_str(), ids.c_str(),
                                              recipients.c_str(), fields.c_str()});
        }
      } catch (...) {
        failure = std::current_exception();
      }
    });
  for (auto& thread : threads)
    thread.join();
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  for (const auto& failure : failures)
    if (failure)
      std::rethrow_exception(failure);
  return static_cast<double>(messages) / taken.count();
}

} // namespace paceline::bench
