#include "transport/providers/smtp_dialer.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include <curl/curl.h>

#include "transport/outgoing/address_rules.hpp"
#include "transport/outgoing/connection_rules.hpp"
#include "transport/providers/smtp_answers.hpp"

namespace paceline {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t receive_size = 16384; ///< one record of TLS

struct easy_deleter {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
using easy = std::unique_ptr<CURL, easy_deleter>;

bool starts_with_word(std::string_view line, std::string_view word) {
  return line.starts_with(word) && (line.size() == word.size() || line[word.size()] == ' ');
}

/// One connection being made, and what the server said meanwhile.
struct attempt_to_dial {
  easy handle;
  std::function<void(smtp_dialer::dialed)> done;
  bool allow_private = false;
  std::string refused_address;
  std::array<char, CURL_ERROR_SIZE> problem{};
  smtp_reply_reader reader;
  std::optional<smtp_reply> last; ///< reply
  smtp_extensions offered;        ///< of the latest EHLO: what came before TLS is not to be trusted
  bool inside_reply = false;

  void take_line(std::string_view line);
};

void attempt_to_dial::take_line(std::string_view line) {
  if (line.starts_with("250")) {
    if (!inside_reply)
      offered = {};
    auto text = line.substr(std::min<std::size_t>(4, line.size()));
    while (text.ends_with('\n') || text.ends_with('\r'))
      text.remove_suffix(1);
    offered.pipelining = offered.pipelining || starts_with_word(text, "PIPELINING");
    offered.size = offered.size || starts_with_word(text, "SIZE");
  }
  inside_reply = line.size() > 3 && line[3] == '-';
  reader.feed(line);
  if (auto reply = reader.next())
    last = std::move(reply);
}

extern "C" std::size_t take_header(char* octets, std::size_t size, std::size_t count, void* dial) {
  static_cast<attempt_to_dial*>(dial)->take_line({octets, size * count});
  return size * count;
}

extern "C" std::size_t ignore_body(char*, std::size_t size, std::size_t count, void*) {
  return size * count;
}

extern "C" curl_socket_t open_socket(void* of, curlsocktype, curl_sockaddr* address) {
  auto& dial = *static_cast<attempt_to_dial*>(of);
  if (!dial.allow_private && !is_public_address(address->addr)) {
    dial.refused_address = text_of(address->addr);
    return CURL_SOCKET_BAD;
  }
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

std::string url_of(const smtp_options& options) {
  const bool implicit = options.security == smtp_options::protection::tls;
  const bool is_ipv6 = options.host.find(':') != std::string::npos;
  std::string url = implicit ? "smtps://" : "smtp://";
  url += is_ipv6 ? '[' + options.host + ']' : options.host;
  url += ':' + std::to_string(options.port);
  if (!options.greeting.empty())
    url += '/' + options.greeting;
  return url;
}

template <class Value>
void set(CURL* handle, CURLoption option, Value value) {
  if (curl_easy_setopt(handle, option, value) != CURLE_OK)
    throw std::runtime_error("libcurl lacks option " + std::to_string(option));
}

void set_rules(CURL* handle, const smtp_options& options) {
  engine_options rules;
  rules.ca_file = options.ca_file;
  rules.allow_private = options.allow_private;
  rules.connect_timeout = options.connect_timeout;
  rules.total_timeout = options.connect_timeout; // connecting is all that libcurl does
  set_connection_rules(handle, rules);
  set(handle, CURLOPT_CONNECT_ONLY, 1L);
  set(handle, CURLOPT_FRESH_CONNECT, 1L);
  set(handle, CURLOPT_TCP_KEEPALIVE, 1L);
  if (options.security == smtp_options::protection::none)
    set(handle, CURLOPT_USE_SSL, static_cast<long>(CURLUSESSL_NONE));
  if (!options.username.empty()) {
    set(handle, CURLOPT_USERNAME, options.username.c_str());
    set(handle, CURLOPT_PASSWORD, options.password.c_str());
    set(handle, CURLOPT_LOGIN_OPTIONS, "AUTH=PLAIN;AUTH=LOGIN");
    set(handle, CURLOPT_SASL_IR, 1L);
  }
  set(handle, CURLOPT_URL, url_of(options).c_str());
}

bool is_about_protection(CURLcode code) {
  return code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CERTPROBLEM
         || code == CURLE_SSL_ISSUER_ERROR || code == CURLE_SSL_CACERT_BADFILE
         || code == CURLE_USE_SSL_FAILED;
}

/// Why there is no link, for the messages that wait for one.
provider_answer answer_for_failure(const attempt_to_dial& dial, CURLcode code) {
  std::string text = dial.problem.front() ? dial.problem.data() : curl_easy_strerror(code);
  if (!dial.refused_address.empty())
    text = "the address " + dial.refused_address
           + " is not public: allow_private lets the route connect to it";
  else if (dial.last && dial.last->code >= 400) {
    auto answer = answer_for_refusal(smtp_stage::login, *dial.last);
    answer.diagnostic += ": " + text;
    return answer;
  }
  auto answer = answer_for_loss(smtp_stage::login, code == CURLE_OPERATION_TIMEDOUT,
                                "can't connect: " + text);
  if (is_about_protection(code) || code == CURLE_LOGIN_DENIED) {
    answer.kind = outcome_kind::throttled;
    answer.refused = refusal::sending_paused;
    answer.reason = reason_code::provider_sending_paused;
  }
  return answer;
}

} // namespace

class smtp_dialer::impl : public std::enable_shared_from_this<impl> {
public:
  impl(reactor& loop, const smtp_options& options);
  ~impl();
  void dial(std::function<void(dialed)> done);
  void cancel_all();
  void close(CURL* handle);

private:
  static int socket_changed(CURL* handle, curl_socket_t socket, int what, void* self, void* known);
  static int timer_changed(CURLM* multi, long timeout_ms, void* self);
  void act(curl_socket_t socket, int events);
  void finish(CURL* handle, CURLcode code);

  reactor& loop_;
  smtp_options options_;
  CURLM* multi_;
  std::uint64_t timer_ = 0; ///< which setting of the timer counts
  std::unordered_map<CURL*, std::unique_ptr<attempt_to_dial>> dials_;
};

namespace {

class curl_link final : public smtp_link {
public:
  curl_link(easy handle, const smtp_extensions& offered, std::function<void(CURL*)> close)
      : handle_(std::move(handle)), offered_(offered), close_(std::move(close)) {
    curl_easy_getinfo(handle_.get(), CURLINFO_ACTIVESOCKET, &socket_);
  }
  /// Without its socket libcurl can't wait for the answer to a QUIT.
  ~curl_link() override {
    if (socket_ != CURL_SOCKET_BAD)
      ::shutdown(socket_, SHUT_RDWR);
    close_(handle_.get());
  }
  curl_link(const curl_link&) = delete;
  curl_link& operator=(const curl_link&) = delete;

  int socket() const override { return socket_; }
  const smtp_extensions& offered() const override { return offered_; }

  state send(std::string_view& octets) override {
    std::size_t sent = 0;
    const auto code = curl_easy_send(handle_.get(), octets.data(), octets.size(), &sent);
    octets.remove_prefix(code == CURLE_OK ? sent : 0);
    return state_of(code, sent);
  }

  state receive(std::string& to) override {
    const auto before = to.size();
    to.resize(before + receive_size);
    std::size_t came = 0;
    const auto code = curl_easy_recv(handle_.get(), to.data() + before, receive_size, &came);
    to.resize(before + (code == CURLE_OK ? came : 0));
    return state_of(code, came);
  }

private:
  static state state_of(CURLcode code, std::size_t count) {
    if (code == CURLE_AGAIN)
      return state::blocked;
    return code == CURLE_OK && count > 0 ? state::fine : state::lost;
  }

  easy handle_;
  smtp_extensions offered_;
  std::function<void(CURL*)> close_;
  curl_socket_t socket_ = CURL_SOCKET_BAD;
};

} // namespace

smtp_dialer::impl::impl(reactor& loop, const smtp_options& options)
    : loop_(loop), options_(options) {
  check_authorities(options.ca_file);
  if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
    throw std::runtime_error("libcurl can't be used");
  multi_ = curl_multi_init();
  if (multi_ == nullptr) {
    curl_global_cleanup();
    throw std::bad_alloc{};
  }
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &impl::socket_changed);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &impl::timer_changed);
  curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
}

smtp_dialer::impl::~impl() {
  cancel_all();
  curl_multi_cleanup(multi_);
  curl_global_cleanup();
}

void smtp_dialer::impl::dial(std::function<void(dialed)> done) {
  auto fresh = std::make_unique<attempt_to_dial>();
  fresh->handle.reset(curl_easy_init());
  auto* handle = fresh->handle.get();
  if (handle == nullptr)
    throw std::bad_alloc{};
  fresh->done = std::move(done);
  fresh->allow_private = options_.allow_private;
  set_rules(handle, options_);
  set(handle, CURLOPT_ERRORBUFFER, fresh->problem.data());
  set(handle, CURLOPT_HEADERFUNCTION, &take_header);
  set(handle, CURLOPT_HEADERDATA, static_cast<void*>(fresh.get()));
  set(handle, CURLOPT_WRITEFUNCTION, &ignore_body);
  set(handle, CURLOPT_OPENSOCKETFUNCTION, &open_socket);
  set(handle, CURLOPT_OPENSOCKETDATA, static_cast<void*>(fresh.get()));
  dials_.emplace(handle, std::move(fresh));
  curl_multi_add_handle(multi_, handle); // starts with the timer that it sets
}

void smtp_dialer::impl::cancel_all() {
  for (auto& [handle, dial] : dials_)
    curl_multi_remove_handle(multi_, handle);
  dials_.clear();
}

void smtp_dialer::impl::close(CURL* handle) {
  curl_multi_remove_handle(multi_, handle);
}

int smtp_dialer::impl::socket_changed(CURL*, curl_socket_t socket, int what, void* of, void*) {
  auto& self = *static_cast<impl*>(of);
  if (what == CURL_POLL_REMOVE) {
    self.loop_.watch(socket, 0, {});
    return 0;
  }
  std::uint32_t events = 0;
  if ((what & CURL_POLL_IN) != 0)
    events |= EPOLLIN;
  if ((what & CURL_POLL_OUT) != 0)
    events |= EPOLLOUT;
  self.loop_.watch(socket, events, [weak = self.weak_from_this(), socket](std::uint32_t ready) {
    const auto alive = weak.lock();
    if (!alive)
      return;
    const int flags = ((ready & EPOLLIN) != 0 ? CURL_CSELECT_IN : 0)
                      | ((ready & EPOLLOUT) != 0 ? CURL_CSELECT_OUT : 0)
                      | ((ready & (EPOLLERR | EPOLLHUP)) != 0 ? CURL_CSELECT_ERR : 0);
    alive->act(socket, flags);
  });
  return 0;
}

int smtp_dialer::impl::timer_changed(CURLM*, long timeout_ms, void* of) {
  auto& self = *static_cast<impl*>(of);
  const auto which = ++self.timer_;
  if (timeout_ms < 0)
    return 0;
  self.loop_.at(self.loop_.now() + milliseconds{timeout_ms}, [weak = self.weak_from_this(), which] {
    if (const auto alive = weak.lock(); alive && alive->timer_ == which)
      alive->act(CURL_SOCKET_TIMEOUT, 0);
  });
  return 0;
}

void smtp_dialer::impl::act(curl_socket_t socket, int events) {
  int running = 0;
  curl_multi_socket_action(multi_, socket, events, &running);
  int left = 0;
  while (auto* message = curl_multi_info_read(multi_, &left))
    if (message->msg == CURLMSG_DONE)
      finish(message->easy_handle, message->data.result);
}

void smtp_dialer::impl::finish(CURL* handle, CURLcode code) {
  const auto found = dials_.find(handle);
  if (found == dials_.end())
    return;
  const auto dial = std::move(found->second);
  dials_.erase(found);
  if (code != CURLE_OK) {
    curl_multi_remove_handle(multi_, handle);
    dial->done(answer_for_failure(*dial, code));
    return;
  }
  // What belongs to the dialing ends with this function.
  set(handle, CURLOPT_ERRORBUFFER, static_cast<char*>(nullptr));
  set(handle, CURLOPT_HEADERDATA, static_cast<void*>(nullptr));
  set(handle, CURLOPT_HEADERFUNCTION, &ignore_body);
  dial->done(std::make_unique<curl_link>(
      std::move(dial->handle), dial->offered,
      [self = shared_from_this()](CURL* closing) { self->close(closing); }));
}

smtp_dialer::smtp_dialer(reactor& loop, const smtp_options& options)
    : impl_(std::make_shared<impl>(loop, options)) {}

smtp_dialer::~smtp_dialer() {
  impl_->cancel_all();
}

void smtp_dialer::dial(std::function<void(dialed)> done) {
  impl_->dial(std::move(done));
}

} // namespace paceline
