#include "transport/outgoing/http_client.hpp"

#include <algorithm>
#include <utility>

#include "transport/http/ascii.hpp"
#include "transport/outgoing/http_exchange.hpp"

namespace paceline {
namespace {

constexpr std::size_t opened_at_once = 8;

/// Connections that are still to be opened; shared by the requests that open them.
struct warming {
  std::string url;
  std::size_t wanted = 0; ///< open ones
  std::size_t left = 0;   ///< requests that may still be made
};

} // namespace

std::optional<std::string_view> http_result::header(std::string_view name) const {
  for (const auto& [key, value] : headers)
    if (is_same_ascii(key, name))
      return value;
  return {};
}

class http_client::impl {
public:
  impl(reactor& loop, engine_options options)
      : loop_(loop), alive_(std::make_shared<bool>(true)), engine_(loop, std::move(options)) {}

  void send(outgoing_request what, std::function<bool()> may_write,
            std::function<void(http_result)> answered, bool on_a_new_connection) {
    if (auto complaint = complaint_about(what); !complaint.empty())
      return refuse(std::move(complaint), std::move(answered));
    auto transfer = engine_.prepare(what.url);
    auto exchange = std::make_shared<http_exchange>(std::move(what));
    if (!exchange->set_up(transfer->handle()))
      return refuse("no memory for the request", std::move(answered));
    if (on_a_new_connection)
      curl_easy_setopt(transfer->handle(), CURLOPT_FRESH_CONNECT, 1L);
    engine_.start(std::move(transfer), std::move(may_write),
                  [exchange, answered = std::move(answered)](curl_transfer& done,
                                                             const transfer_result& result) {
                    answered(exchange->take(done.handle(), result));
                  });
  }

  void warm(const std::string& url, std::size_t connections) {
    auto open = engine_.connections();
    if (open >= connections)
      return;
    auto work = std::make_shared<warming>(warming{url, connections, connections - open});
    for (std::size_t i = 0; i < opened_at_once; ++i)
      open_one(work);
  }

  curl_engine& engine() { return engine_; }

private:
  void refuse(std::string complaint, std::function<void(http_result)> answered) {
    http_result result;
    result.end = transfer_end::not_written;
    result.diagnostic = std::move(complaint);
    loop_.at(loop_.now(), [result = std::move(result), answered = std::move(answered),
                           alive = std::weak_ptr<bool>(alive_)] {
      if (!alive.expired())
        answered(result);
    });
  }

  /// Where a host takes many requests on one connection, the engine opens only a few: then there
  /// are fewer than wanted in the end, and `left` ends the work.
  void open_one(const std::shared_ptr<warming>& work) {
    if (work->left == 0 || engine_.connections() >= work->wanted)
      return;
    --work->left;
    outgoing_request harmless;
    harmless.method = "HEAD";
    harmless.url = work->url;
    send(
        std::move(harmless), [] { return true; },
        [this, work](const http_result& result) {
          if (result.end == transfer_end::answered)
            open_one(work);
        },
        true);
  }

  reactor& loop_;
  std::shared_ptr<bool> alive_;
  curl_engine engine_;
};

http_client::http_client(reactor& loop, engine_options options)
    : impl_(std::make_unique<impl>(loop, std::move(options))) {}

http_client::~http_client() = default;

void http_client::send(outgoing_request what, std::function<bool()> may_write,
                       std::function<void(http_result)> answered) {
  impl_->send(std::move(what), std::move(may_write), std::move(answered), false);
}

void http_client::warm(const std::string& url, std::size_t connections) {
  impl_->warm(url, connections);
}

curl_engine& http_client::engine() {
  return impl_->engine();
}

} // namespace paceline
