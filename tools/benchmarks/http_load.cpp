#include "tools/benchmarks/http_load.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <charconv>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
#include <queue>
#include <stdexcept>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>

namespace paceline::bench {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds answer_limit{30};

int connect_to(int port) {
  const int made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  // Connecting on loopback takes no time worth an event.
  if (made < 0 || ::connect(made, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
    const int failed = errno;
    ::close(made);
    throw std::system_error(failed, std::generic_category(),
                            "connect to 127.0.0.1:" + std::to_string(port));
  }
  const int on = 1;
  ::setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return made;
}

struct answer {
  int status = 0;
  std::size_t size = 0; ///< of head and body
  std::string_view body;
};

/// The answer at the beginning of `text`, once it is complete. Ours always have a Content-Length.
std::optional<answer> whole_answer(std::string_view text) {
  const auto head = text.find("\r\n\r\n");
  if (head == std::string_view::npos)
    return std::nullopt;
  answer found;
  std::from_chars(text.data() + 9, text.data() + 12, found.status);
  std::size_t length = 0;
  constexpr std::string_view name = "\r\nContent-Length: ";
  const auto at = text.substr(0, head).find(name);
  if (at != std::string_view::npos)
    std::from_chars(text.data() + at + name.size(), text.data() + head, length);
  found.size = head + 4 + length;
  if (text.size() < found.size)
    return std::nullopt;
  found.body = text.substr(head + 4, length);
  return found;
}

struct client {
  int socket = -1;
  std::int64_t number = -1; ///< of the request under way; -1: none
  std::string to_write;
  std::size_t written = 0;
  std::string read;
  steady_clock::time_point begun;
};

class load {
public:
  load(stage& with, const load_settings& settings)
      : with_(with), settings_(settings), clients_(static_cast<std::size_t>(settings.clients)),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}
  load(const load&) = delete;
  load& operator=(const load&) = delete;
  ~load() {
    for (auto& one : clients_)
      if (one.socket >= 0)
        ::close(one.socket);
    ::close(epoll_);
  }

  load_result run() {
    for (std::size_t i = 0; i < clients_.size(); ++i)
      open(i);
    begin_ = last_answer_ = steady_clock::now();
    for (std::size_t i = 0; i < clients_.size(); ++i)
      ask(i);
    while (busy_ > 0 || !resting_.empty())
      turn();
    result_.seconds = std::chrono::duration<double>(last_answer_ - begin_).count();
    return std::move(result_);
  }

private:
  using rest = std::pair<steady_clock::time_point, std::size_t>;

  void turn() {
    epoll_event events[64];
    const int count = ::epoll_wait(epoll_, events, 64, resting_.empty() ? 100 : 1);
    for (int i = 0; i < count; ++i)
      serve(static_cast<std::size_t>(events[i].data.u64));
    const auto now = steady_clock::now();
    while (!resting_.empty() && resting_.top().first <= now) {
      const auto who = resting_.top().second;
      resting_.pop();
      ask(who);
    }
    if (now - last_look_ > std::chrono::milliseconds{100}) {
      last_look_ = now;
      with_.sleep(std::chrono::milliseconds{0}); // notices Ctrl-C
      for (const auto& one : clients_)
        if (one.number >= 0 && now - one.begun > answer_limit)
          throw std::runtime_error("an answer takes longer than 30 s");
    }
  }

  void open(std::size_t who) {
    auto& one = clients_[who];
    one = {};
    one.socket = connect_to(settings_.port);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = who;
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, one.socket, &event);
  }

  void ask(std::size_t who) {
    auto& one = clients_[who];
    const auto now = steady_clock::now();
    if (next_ >= settings_.most_requests || now - begin_ >= settings_.length)
      return;
    one.number = next_++;
    one.to_write = settings_.request(one.number);
    one.written = 0;
    one.read.clear();
    one.begun = now;
    ++busy_;
    write_more(who);
  }

  void watch(std::size_t who, std::uint32_t events) {
    epoll_event event{};
    event.events = events;
    event.data.u64 = who;
    ::epoll_ctl(epoll_, EPOLL_CTL_MOD, clients_[who].socket, &event);
  }

  void write_more(std::size_t who) {
    auto& one = clients_[who];
    while (one.written < one.to_write.size()) {
      const auto sent = ::send(one.socket, one.to_write.data() + one.written,
                               one.to_write.size() - one.written, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0) {
        // An error shows itself when reading.
        return watch(who, errno == EAGAIN ? EPOLLIN | EPOLLOUT : EPOLLIN);
      }
      one.written += static_cast<std::size_t>(sent);
    }
  }

  void serve(std::size_t who) {
    auto& one = clients_[who];
    if (one.written < one.to_write.size()) {
      write_more(who);
      if (one.written == one.to_write.size())
        watch(who, EPOLLIN);
    }
    char buffer[65536];
    const auto got = ::recv(one.socket, buffer, sizeof buffer, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN)
      return;
    if (got <= 0)
      return lose(who);
    one.read.append(buffer, static_cast<std::size_t>(got));
    if (const auto complete = whole_answer(one.read))
      take(who, *complete);
  }

  void take(std::size_t who, const answer& complete) {
    auto& one = clients_[who];
    last_answer_ = steady_clock::now();
    --busy_;
    if (complete.status / 100 == 2) {
      ++result_.fine;
      result_.latencies.push_back(std::chrono::duration<double>(last_answer_ - one.begun).count());
    } else {
      ++result_.refused;
      if (result_.first_refusal.empty())
        result_.first_refusal =
            std::to_string(complete.status) + " " + std::string{complete.body.substr(0, 300)};
    }
    if (settings_.on_answer)
      settings_.on_answer(one.number, complete.status, complete.body);
    one.number = -1;
    if (settings_.pause.count() > 0)
      resting_.push({last_answer_ + settings_.pause, who});
    else
      ask(who);
  }

  void lose(std::size_t who) {
    auto& one = clients_[who];
    ::close(one.socket);
    one.socket = -1;
    if (one.number < 0)
      return;
    ++result_.broken;
    --busy_;
    open(who);
    ask(who);
  }

  stage& with_;
  const load_settings& settings_;
  std::vector<client> clients_;
  int epoll_;
  std::int64_t next_ = 0, busy_ = 0;
  std::priority_queue<rest, std::vector<rest>, std::greater<>> resting_;
  steady_clock::time_point begin_, last_answer_, last_look_;
  load_result result_;
};

} // namespace

std::string request_text(std::string_view path, std::string_view token, std::string_view body) {
  std::string text = body.empty() ? "GET " : "POST ";
  text.append(path).append(" HTTP/1.1\r\nHost: 127.0.0.1\r\n");
  if (!token.empty())
    text.append("Authorization: Bearer ").append(token).append("\r\n");
  if (!body.empty())
    text.append("Content-Type: application/json\r\nContent-Length: ")
        .append(std::to_string(body.size()))
        .append("\r\n");
  return text.append("\r\n").append(body);
}

load_result run_load(stage& with, const load_settings& settings) {
  return load(with, settings).run();
}

} // namespace paceline::bench
