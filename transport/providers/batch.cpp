#include "transport/providers/batch.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include "transport/outgoing/http_client.hpp"
#include "transport/providers/batch_answers.hpp"
#include "transport/providers/batch_request.hpp"

namespace paceline {
namespace {

constexpr double first_rate = 2;    ///< requests per second, as long as nothing is known
constexpr double least_rate = 0.02; ///< as low as a route's target may be
constexpr std::string_view path = "/emails/batch";

std::int64_t unix_seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

struct batched_call {
  call* what;
  provider::answer_function answered;
};

/// The calls of one request. Whoever waits for its answer shares it.
using batch = std::vector<batched_call>;

/// All or nothing: one that may not go keeps the others back.
bool may_all_write(const batch& calls) {
  const auto is_refused = [](const batched_call& each) { return each.what->is_refused(); };
  if (std::any_of(calls.begin(), calls.end(), is_refused)) {
    for (const auto& each : calls)
      if (is_refused(each))
        each.what->may_write(); // says no, and the call remembers why
    return false;
  }
  // The time goes on meanwhile: the last may be too late where the first was not.
  return std::all_of(calls.begin(), calls.end(),
                     [](const batched_call& each) { return each.what->may_write(); });
}

class batch_provider final : public provider {
public:
  batch_provider(reactor& loop, batch_options options);
  ~batch_provider() override { *alive_ = false; }

  void start(call& what, answer_function answered) override;
  void flush() override;
  void ask_quota(quota_function answered) override;
  void ask_health(std::function<void(bool)> answered) override;

private:
  void send(batch calls);
  outgoing_request request() const;
  void learn(const http_result& from);

  batch_options options_;
  std::map<database_instant, batch> gathered_; ///< by slot, until `flush`
  double rate_ = first_rate;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  http_client client_;
};

engine_options engine_of(const batch_options& options) {
  engine_options engine;
  engine.max_connections = options.max_connections;
  engine.ca_file = options.ca_file;
  engine.allow_private = options.allow_private;
  engine.connect_timeout = options.connect_timeout;
  engine.total_timeout = options.total_timeout;
  return engine;
}

batch_provider::batch_provider(reactor& loop, batch_options options)
    : options_(std::move(options)), client_(loop, engine_of(options_)) {
  const auto& key = options_.key;
  if (key.empty()
      || std::any_of(key.begin(), key.end(), [](char c) { return c <= ' ' || c >= 127; }))
    throw std::runtime_error("the API key must be 1 or more visible ASCII characters");
  if (options_.endpoint.ends_with('/'))
    options_.endpoint.pop_back();
  if (options_.warm_connections > 0)
    client_.keep_free(options_.endpoint + std::string{path},
                      static_cast<std::size_t>(options_.warm_connections));
}

void batch_provider::start(call& what, answer_function answered) {
  gathered_[what.slot()].push_back({&what, std::move(answered)});
}

void batch_provider::flush() {
  const auto most = static_cast<std::size_t>(std::max(1, options_.batch_size));
  for (auto& [slot, calls] : std::exchange(gathered_, {})) {
    batch part;
    std::size_t size = 0;
    for (auto& each : calls) {
      const auto more = batch_item_size(each.what->message());
      if (!part.empty() && (part.size() == most || size + more > options_.max_body)) {
        send(std::exchange(part, {}));
        size = 0;
      }
      size += more;
      part.push_back(std::move(each));
    }
    send(std::move(part));
  }
}

outgoing_request batch_provider::request() const {
  outgoing_request made;
  made.url = options_.endpoint + std::string{path};
  made.headers = {"Authorization: Bearer " + options_.key, "Content-Type: application/json",
                  "Accept: application/json"};
  return made;
}

void batch_provider::send(batch calls) {
  auto made = request();
  if (!client_.is_ready(made.url)) {
    for (auto& each : calls)
      each.answered(no_free_connection());
    return;
  }
  auto shared = std::make_shared<batch>();
  std::vector<attempt> attempts;
  made.body = "[";
  for (auto& each : calls) {
    const auto& message = each.what->message();
    const auto before = made.body.size();
    if (!attempts.empty())
      made.body += ',';
    if (!append_batch_item(made.body, message)) {
      made.body.resize(before);
      provider_answer bad;
      bad.kind = outcome_kind::rejected;
      bad.refused = refusal::this_message;
      bad.reason = reason_code::invalid_recipient;
      bad.diagnostic = "the provider takes no message whose recipients are all hidden (bcc)";
      each.answered(std::move(bad));
      continue;
    }
    attempts.push_back(message.of);
    shared->push_back(std::move(each));
  }
  if (shared->empty())
    return;
  made.body += ']';
  made.headers.push_back("Idempotency-Key: " + batch_idempotency_key(attempts));
  client_.send(
      std::move(made), [shared] { return may_all_write(*shared); },
      [this, alive = alive_, shared](const http_result& result) {
        if (*alive)
          learn(result);
        auto answers = batch_answers(result, shared->size(), unix_seconds());
        for (std::size_t i = 0; i < shared->size(); ++i)
          (*shared)[i].answered(std::move(answers[i]));
      });
}

void batch_provider::learn(const http_result& from) {
  if (from.end != transfer_end::answered)
    return;
  if (const auto told = requests_per_second(rate_headers_of(from)))
    rate_ = std::max(least_rate, *told);
}

void batch_provider::ask_quota(quota_function answered) {
  quota_reading reading;
  reading.max_send_rate = rate::per_second(rate_);
  answered(reading);
}

void batch_provider::ask_health(std::function<void(bool)> answered) {
  auto made = request();
  made.body = "[]";
  client_.send(
      std::move(made), [] { return true; },
      [this, alive = alive_, answered = std::move(answered)](const http_result& result) {
        if (*alive)
          learn(result);
        answered(is_healthy_answer(result));
      });
}

} // namespace

std::unique_ptr<provider> make_batch_provider(reactor& loop, batch_options options) {
  return std::make_unique<batch_provider>(loop, std::move(options));
}

} // namespace paceline
