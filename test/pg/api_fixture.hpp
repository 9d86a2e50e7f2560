/// The API on a real database, called without a listener.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "storage/keys.hpp"
#include "test/pg/database_fixture.hpp"
#include "test/support/captured_log.hpp"
#include "transport/api/service.hpp"
#include "transport/api/token.hpp"

namespace paceline::test {

class api_fixture : public migrated_fixture {
public:
  api_fixture();
  ~api_fixture();

  /// A key of `project` and its token.
  std::string make_key(std::vector<key_scope> scopes, const std::string& environment = "test",
                       const std::string& project = "default",
                       std::optional<std::int32_t> limit = {});

  using header_list = std::vector<std::pair<std::string, std::string>>;
  /// With our key, unless `headers` has another; with a JSON body unless it is empty. `target` may
  /// have a query.
  http_response call(const std::string& method, const std::string& target,
                     const std::string& body = {}, header_list headers = {});
  http_response send(const std::string& more = {}, header_list headers = {}) {
    return call("POST", "/v1/send", message(more), std::move(headers));
  }
  static std::string message(const std::string& more = {});
  static std::string bearer(const std::string& token) { return "Bearer " + token; }

  /// A member of the answer's object; empty if it is not there.
  static std::string member(const http_response& answer, std::string_view name);
  static std::string header(const http_response& answer, std::string_view name);
  int count(const std::string& table) { return std::stoi(ask("SELECT count(*) FROM " + table)); }
  std::vector<std::string> woken();
  /// The service anew: what it remembers is forgotten.
  void restart(const std::string& with_dsn = {});

  std::string token; ///< of a key that may send, read and manage in `test`
  api_options options;
  std::atomic<bool> is_ready{false}; ///< what its health says
  api_service& service() { return *service_; }
  logger& log() { return log_.log; }
  std::vector<std::string> log_lines(const std::string& part) const { return log_.lines(part); }

private:
  captured_log log_;
  std::mutex mutex_;
  std::vector<std::string> woken_;
  id_source key_ids_{5};
  std::unique_ptr<database_pool> pool_;
  std::unique_ptr<api_service> service_;
};

/// Runs `work(i)` on `count` threads at once.
template <class F>
void at_once(int count, F work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&work, i] { work(i); });
  for (auto& thread : threads)
    thread.join();
}

} // namespace paceline::test
