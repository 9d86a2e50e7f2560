#include "tools/benchmarks/ses_transfers.hpp"

#include <array>
#include <chrono>
#include <ctime>
#include <memory>
#include <stdexcept>
#include <sys/epoll.h>
#include <unistd.h>

#include <curl/curl.h>

#include "transport/aws/credentials.hpp"
#include "transport/aws/signed_request.hpp"
#include "transport/providers/ses_request.hpp"

namespace paceline::bench {
namespace {

using std::chrono::steady_clock;
using nanoseconds = std::chrono::nanoseconds;

constexpr long most_connections = 2000;
constexpr long longest_s = 30;

/// What every message of the floor is: a head, and lines up to the wanted length.
class body_maker {
public:
  explicit body_maker(const transfer_settings& settings)
      : requests_(settings.to.endpoint, "eu-west-1", "ses") {
    keys_.access_key = ses_stand_in::access_key();
    keys_.secret_key = ses_stand_in::secret_key();
    message_.sender = "News <news@example.com>";
    message_.recipients.resize(1);
    // Base64 makes four octets of three.
    const auto without = make({1'000'000, "user1@simulator.paceline.test"}).body.size();
    if (settings.body_octets > without)
      padding_.assign((settings.body_octets - without) * 3 / 4, 'x');
    for (std::size_t i = 70; i < padding_.size(); i += 72)
      padding_.replace(i, 2, "\r\n");
  }

  outgoing_request make(const floor_message& what) {
    message_.of.message = message_id{what.id};
    message_.recipients[0] = what.recipient;
    message_.raw = "From: News <news@example.com>\r\nTo: " + what.recipient
                   + "\r\nSubject: News\r\nMessage-ID: <" + std::to_string(what.id)
                   + ".0@example.com>\r\nMIME-Version: 1.0\r\n\r\n" + padding_ + "\r\n";
    aws_call call;
    call.target = "/v2/email/outbound-emails";
    call.content_type = "application/json";
    call.body = send_email_body(message_, "");
    return requests_.make(std::move(call), keys_, std::time(nullptr));
  }

private:
  request_maker requests_;
  aws_credentials keys_;
  outgoing_message message_;
  std::string padding_;
};

/// One easy handle, used again and again.
struct transfer {
  CURL* handle = nullptr;
  curl_slist* headers = nullptr;
  std::int64_t id = 0;
  std::string body, answer;

  transfer() = default;
  transfer(const transfer&) = delete;
  transfer& operator=(const transfer&) = delete;
  ~transfer() {
    ::curl_easy_cleanup(handle);
    ::curl_slist_free_all(headers);
  }
};

std::size_t take_answer(char* data, std::size_t, std::size_t size, void* to) {
  static_cast<transfer*>(to)->answer.append(data, size);
  return size;
}

class transfer_loop {
public:
  transfer_loop(const transfer_settings& settings, const transfer_ports& ports)
      : settings_(settings), ports_(ports), bodies_(settings), multi_(::curl_multi_init()),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    if (multi_ == nullptr || epoll_ < 0)
      throw std::runtime_error("the floor has no curl or no epoll");
    ::curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &transfer_loop::watch);
    ::curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
    ::curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &transfer_loop::set_timer);
    ::curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
    ::curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, most_connections);
    ::curl_multi_setopt(multi_, CURLMOPT_MAX_HOST_CONNECTIONS, most_connections);
  }
  transfer_loop(const transfer_loop&) = delete;
  transfer_loop& operator=(const transfer_loop&) = delete;
  ~transfer_loop() {
    for (auto& one : all_)
      ::curl_multi_remove_handle(multi_, one->handle);
    all_.clear();
    ::curl_multi_cleanup(multi_);
    ::close(epoll_);
  }

  void run(std::int64_t count) {
    const nanoseconds slot{static_cast<std::int64_t>(1e9 / settings_.rate)};
    auto next = steady_clock::now();
    std::int64_t started = 0;
    while (done_ < count) {
      // A slot that was missed by more than a little is lost, as the node's are.
      next = std::max(next, steady_clock::now() - std::chrono::milliseconds{5});
      for (; started < count && next <= steady_clock::now(); next += slot)
        started += start_one() ? 1 : 0;
      wait(started < count ? next : steady_clock::now() + std::chrono::milliseconds{100});
    }
  }

private:
  static int watch(CURL*, curl_socket_t socket, int what, void* us, void*) {
    auto& self = *static_cast<transfer_loop*>(us);
    epoll_event event{};
    event.data.fd = socket;
    if (what != CURL_POLL_OUT)
      event.events |= EPOLLIN;
    if (what != CURL_POLL_IN)
      event.events |= EPOLLOUT;
    if (what == CURL_POLL_REMOVE)
      ::epoll_ctl(self.epoll_, EPOLL_CTL_DEL, socket, nullptr);
    else if (::epoll_ctl(self.epoll_, EPOLL_CTL_MOD, socket, &event) != 0)
      ::epoll_ctl(self.epoll_, EPOLL_CTL_ADD, socket, &event);
    return 0;
  }

  static int set_timer(CURLM*, long milliseconds, void* us) {
    static_cast<transfer_loop*>(us)->timer_ =
        milliseconds < 0 ? steady_clock::time_point::max()
                         : steady_clock::now() + std::chrono::milliseconds{milliseconds};
    return 0;
  }

  transfer& idle_transfer() {
    if (!idle_.empty()) {
      auto* const one = idle_.back();
      idle_.pop_back();
      return *one;
    }
    auto& one = *all_.emplace_back(std::make_unique<transfer>());
    one.handle = ::curl_easy_init();
    ::curl_easy_setopt(one.handle, CURLOPT_CAINFO, settings_.to.ca_file.c_str());
    ::curl_easy_setopt(one.handle, CURLOPT_WRITEFUNCTION, &take_answer);
    ::curl_easy_setopt(one.handle, CURLOPT_WRITEDATA, &one);
    ::curl_easy_setopt(one.handle, CURLOPT_PRIVATE, &one);
    ::curl_easy_setopt(one.handle, CURLOPT_NOSIGNAL, 1L);
    ::curl_easy_setopt(one.handle, CURLOPT_TIMEOUT, longest_s);
    return one;
  }

  bool start_one() {
    const auto message = ports_.next();
    if (!message)
      return false;
    auto request = bodies_.make(*message);
    auto& one = idle_transfer();
    one.id = message->id;
    one.answer.clear();
    one.body = std::move(request.body);
    ::curl_slist_free_all(one.headers);
    one.headers = nullptr;
    for (const auto& header : request.headers)
      one.headers = ::curl_slist_append(one.headers, header.c_str());
    one.headers = ::curl_slist_append(one.headers, "Expect:");
    ::curl_easy_setopt(one.handle, CURLOPT_URL, request.url.c_str());
    ::curl_easy_setopt(one.handle, CURLOPT_HTTPHEADER, one.headers);
    ::curl_easy_setopt(one.handle, CURLOPT_POSTFIELDS, one.body.data());
    ::curl_easy_setopt(one.handle, CURLOPT_POSTFIELDSIZE, static_cast<long>(one.body.size()));
    ::curl_multi_add_handle(multi_, one.handle);
    return true;
  }

  void wait(steady_clock::time_point until) {
    const auto left = std::min(until, timer_) - steady_clock::now();
    const auto nanos = std::max<std::int64_t>(0, nanoseconds{left}.count());
    const timespec time{nanos / 1'000'000'000, nanos % 1'000'000'000};
    std::array<epoll_event, 256> events{};
    const int count = ::epoll_pwait2(epoll_, events.data(), events.size(), &time, nullptr);
    int running = 0;
    for (int i = 0; i < count; ++i) {
      const auto seen = events[static_cast<std::size_t>(i)];
      const int what = ((seen.events & (EPOLLIN | EPOLLHUP)) != 0 ? CURL_CSELECT_IN : 0)
                       | ((seen.events & EPOLLOUT) != 0 ? CURL_CSELECT_OUT : 0)
                       | ((seen.events & EPOLLERR) != 0 ? CURL_CSELECT_ERR : 0);
      ::curl_multi_socket_action(multi_, seen.data.fd, what, &running);
    }
    if (timer_ <= steady_clock::now()) {
      timer_ = steady_clock::time_point::max();
      ::curl_multi_socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &running);
    }
    collect();
  }

  void collect() {
    int left = 0;
    while (const CURLMsg* const said = ::curl_multi_info_read(multi_, &left)) {
      transfer* one = nullptr;
      long status = 0;
      const auto code = said->data.result;
      ::curl_easy_getinfo(said->easy_handle, CURLINFO_PRIVATE, &one);
      ::curl_easy_getinfo(said->easy_handle, CURLINFO_RESPONSE_CODE, &status);
      ::curl_multi_remove_handle(multi_, one->handle);
      if (code != CURLE_OK || status != 200)
        throw std::runtime_error("the floor's call came to " + std::to_string(status) + ", "
                                 + ::curl_easy_strerror(code) + ": " + one->answer);
      ports_.accepted(one->id);
      ++done_;
      idle_.push_back(one);
    }
  }

  transfer_settings settings_;
  const transfer_ports& ports_;
  body_maker bodies_;
  CURLM* multi_;
  int epoll_;
  steady_clock::time_point timer_ = steady_clock::time_point::max();
  std::int64_t done_ = 0;
  std::vector<std::unique_ptr<transfer>> all_;
  std::vector<transfer*> idle_;
};

} // namespace

void run_transfers(const transfer_settings& settings, std::int64_t count,
                   const transfer_ports& ports) {
  transfer_loop(settings, ports).run(count);
}

} // namespace paceline::bench
