#include "transport/outgoing/http_client.hpp"

#include <algorithm>
#include <utility>

#include "transport/http/ascii.hpp"
#include "transport/outgoing/http_exchange.hpp"

namespace paceline {
namespace {

/// A handshake costs about 2 ms of this thread: so many at once take an eighth of a second, and
/// connections that are ready still get their turn in between.
constexpr std::size_t opened_at_once = 64;

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
      : loop_(loop), most_(static_cast<std::size_t>(options.max_connections)),
        alive_(std::make_shared<bool>(true)), engine_(loop, std::move(options)) {}

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

  void keep_free(const std::string& url, std::size_t connections) {
    free_wanted_ = connections;
    fill_up(url);
  }

  bool is_ready(const std::string& url) {
    const auto open = established();
    if (engine_.is_shared(url)) {
      if (open == 0)
        open_one(url);
      return open > 0 || has_failed_;
    }
    if (open > busy()) {
      fill_up(url);
      return true;
    }
    open_one(url);
    return has_failed_;
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

  std::size_t busy() const {
    const auto all = engine_.in_flight();
    return all - std::min(all, opening_);
  }

  /// At least so many are past their handshake: one that is being opened may not have a socket yet.
  std::size_t established() const {
    const auto open = engine_.connections();
    return open - std::min(open, opening_);
  }

  /// Where requests share connections, one is enough to begin with.
  void fill_up(const std::string& url) {
    const auto wanted =
        engine_.is_shared(url) ? std::min<std::size_t>(free_wanted_, 1) : busy() + free_wanted_;
    for (auto open = established() + opening_; open < wanted; ++open)
      if (!open_one(url))
        return;
  }

  /// False: so many are being opened that this one must wait for another occasion.
  bool open_one(const std::string& url) {
    if (opening_ >= opened_at_once || established() + opening_ >= most_)
      return false;
    ++opening_;
    outgoing_request harmless;
    harmless.method = "HEAD";
    harmless.url = url;
    send(
        std::move(harmless), [] { return true; },
        [this](const http_result& result) {
          --opening_;
          has_failed_ = result.end != transfer_end::answered;
        },
        true);
    return true;
  }

  reactor& loop_;
  std::size_t most_;            ///< connections
  std::size_t free_wanted_ = 0; ///< beyond those in use
  std::size_t opening_ = 0;     ///< requests that open a connection
  bool has_failed_ = false;     ///< the last of them did
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

void http_client::keep_free(const std::string& url, std::size_t connections) {
  impl_->keep_free(url, connections);
}

bool http_client::is_ready(const std::string& url) {
  return impl_->is_ready(url);
}

curl_engine& http_client::engine() {
  return impl_->engine();
}

} // namespace paceline
