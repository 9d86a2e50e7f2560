/// A server in the shape of a batch provider: checks the request, keeps what it accepted, answers
/// as a test says.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <rapidjson/document.h>

#include "test/support/provider_stage.hpp"
#include "test/unit/outgoing_support.hpp"
#include "transport/providers/batch.hpp"

namespace paceline::batch_test {

using namespace std::chrono_literals;
using outgoing_test::authority;

/// A request as it came.
struct batch_received {
  std::string head, body, key, idempotency_key;
  rapidjson::Document items;
  /// Of the item's recipients.
  std::vector<std::string> list(std::size_t item, const char* member) const;
  std::string text(std::size_t item, const char* member) const;
};

/// A whole HTTP answer in place of the usual one; nothing: as usual. Empty text: the connection is
/// cut. With `Connection: close` it ends after the answer.
using behaviour = std::function<std::optional<std::string>(const batch_received&)>;

std::string http_answer(int status, const std::string& body, const std::string& headers = {});
/// A refusal as the provider words it.
std::string refusal_answer(int status, const std::string& name, const std::string& headers = {});

class batch_server {
public:
  explicit batch_server(behaviour special = {});

  std::string endpoint() const { return "https://localhost:" + std::to_string(server_.port()); }
  std::size_t requests() const;
  /// How often each recipient's message was accepted.
  std::map<std::string, int> accepted() const;
  /// The last request; there must have been one.
  const batch_received& last() const;
  batch_options options() const;

private:
  void serve(outgoing_test::server_connection& client);

  authority trusted_;
  outgoing_test::identity proof_;
  behaviour special_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<batch_received>> received_;
  std::map<std::string, int> accepted_;
  outgoing_test::scripted_server server_;
};

outgoing_message message_to(const std::string& recipient, std::int64_t id = 4711);

class batch_stage : public test::provider_stage {
public:
  explicit batch_stage(const batch_options& options)
      : provider_stage([&options](reactor& on) { return make_batch_provider(on, options); }) {}
  /// Starts messages to these in one slot and waits for all answers.
  std::vector<provider_answer> send_all(const std::vector<std::string>& recipients);
  double requests_per_second();
};

} // namespace paceline::batch_test
