#include "test/unit/smtp_support.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <stdexcept>
#include <utility>

#include <openssl/evp.h>

namespace paceline::smtp_test {
namespace {

std::string decode(const std::string& base64) {
  std::string out(base64.size(), '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                   reinterpret_cast<const unsigned char*>(base64.data()),
                                   static_cast<int>(base64.size()));
  out.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  while (!base64.empty() && !out.empty() && out.size() > base64.size() * 3 / 4 - 2
         && out.back() == '\0')
    out.pop_back(); // padding
  return out;
}

} // namespace

/// One connection, on its own thread.
class smtp_session {
public:
  smtp_session(smtp_server& server, int socket) : server_(server), socket_(socket) {}

  void run() {
    if (server_.ways_.implicit_tls && !begin_tls())
      return;
    if (!reply_to("", "220 test ready"))
      return;
    while (auto line = read_line()) {
      note(*line);
      if (!handle(*line))
        return;
    }
  }

private:
  bool begin_tls() {
    tls_.reset(SSL_new(server_.context_.get()));
    SSL_set_fd(tls_.get(), socket_);
    return SSL_accept(tls_.get()) == 1;
  }

  bool read_some() {
    std::array<char, 16384> buffer{};
    const auto count = tls_ ? SSL_read(tls_.get(), buffer.data(), buffer.size())
                            : static_cast<int>(::recv(socket_, buffer.data(), buffer.size(), 0));
    if (count > 0)
      input_.append(buffer.data(), static_cast<std::size_t>(count));
    return count > 0;
  }

  std::optional<std::string> read_line() {
    std::size_t end = 0;
    while ((end = input_.find("\r\n", at_)) == std::string::npos)
      if (!read_some())
        return std::nullopt;
    auto line = input_.substr(at_, end - at_);
    at_ = end + 2;
    if (at_ > 1 << 20 || at_ == input_.size()) {
      input_.erase(0, at_);
      at_ = 0;
    }
    return line;
  }

  bool write(std::string text) {
    text += "\r\n";
    std::string_view left = text;
    while (!left.empty()) {
      const auto count =
          tls_ ? SSL_write(tls_.get(), left.data(), static_cast<int>(left.size()))
               : static_cast<int>(::send(socket_, left.data(), left.size(), MSG_NOSIGNAL));
      if (count <= 0)
        return false;
      left.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }

  /// The special deed or the usual reply; false: the connection is over.
  bool reply_to(const std::string& command, const std::string& usual) {
    return perform(deed_for(command, usual));
  }

  deed deed_for(const std::string& command, const std::string& usual) {
    auto special = server_.ways_.special ? server_.ways_.special(command) : std::nullopt;
    auto chosen = special ? std::move(*special) : deed{usual, false, false};
    last_reply_ = chosen.reply;
    return chosen;
  }

  bool perform(const deed& what) {
    if (!what.reply.empty() && !write(what.reply))
      return false;
    if (what.waits_for_end)
      while (read_some())
        input_.clear();
    return !what.drops && !what.waits_for_end;
  }

  bool was_positive() const { return !last_reply_.empty() && last_reply_.front() < '4'; }

  bool handle(const std::string& line) {
    const auto verb = line.substr(0, 4);
    if (verb == "EHLO")
      return reply_to(line, offer());
    if (line == "STARTTLS")
      return reply_to(line, "220 go on") && (!was_positive() || begin_tls());
    if (verb == "AUTH")
      return log_in(line);
    if (verb == "MAIL") {
      open_ = {line, {}, {}, tls_ != nullptr, login_};
      return reply_to(line, "250 2.1.0 fine");
    }
    if (verb == "RCPT") {
      if (!reply_to(line, "250 2.1.5 fine"))
        return false;
      if (was_positive())
        open_.to.push_back(line);
      return true;
    }
    if (verb == "DATA")
      return reply_to(line, "354 go on") && (last_reply_.substr(0, 3) != "354" || take_text());
    if (verb == "QUIT")
      return write("221 bye") && false;
    return reply_to(line, "250 2.0.0 fine"); // RSET, NOOP
  }

  std::string offer() const {
    std::string text = "250-test\r\n";
    if (server_.ways_.pipelining)
      text += "250-PIPELINING\r\n";
    if (server_.context_ && !tls_)
      text += "250-STARTTLS\r\n";
    if (!server_.ways_.login.empty())
      text += "250-AUTH " + server_.ways_.mechanisms + "\r\n";
    return text + "250 SIZE 50000000";
  }

  bool log_in(const std::string& line) {
    std::string given;
    if (line.starts_with("AUTH PLAIN ")) {
      const auto parts = decode(line.substr(11));
      const auto second = parts.find('\0', 1);
      given = parts.substr(1, second - 1) + ':' + parts.substr(second + 1);
    } else if (line.starts_with("AUTH LOGIN")) {
      if (line.size() > 11)
        given = decode(line.substr(11));
      else if (!write("334 VXNlcm5hbWU6"))
        return false;
      else
        given = decode(read_line().value_or(""));
      if (!write("334 UGFzc3dvcmQ6"))
        return false;
      given += ':' + decode(read_line().value_or(""));
    }
    if (given != server_.ways_.login)
      return reply_to(line, "535 5.7.8 wrong name or password");
    login_ = given;
    return reply_to(line, "235 2.7.0 welcome");
  }

  bool take_text() {
    bool is_first = true;
    while (auto line = read_line()) {
      if (*line == ".")
        return end_text();
      if (std::exchange(is_first, false) && server_.ways_.special)
        if (const auto special = server_.ways_.special("text")) {
          if (!special->reply.empty())
            write(special->reply);
          return false;
        }
      if (line->starts_with('.'))
        line->erase(0, 1);
      open_.text += *line + "\r\n";
    }
    return false;
  }

  void note(const std::string& command) {
    std::lock_guard lock(server_.mutex_);
    server_.commands_.push_back(command);
  }

  bool end_text() {
    note(".");
    const auto what = deed_for(".", "250 2.0.0 queued as " + std::to_string(++queued_));
    if (was_positive()) {
      std::lock_guard lock(server_.mutex_);
      server_.taken_.push_back(std::exchange(open_, {})); // before the client hears of it
    }
    return perform(what);
  }

  smtp_server& server_;
  int socket_;
  std::unique_ptr<SSL, outgoing_test::free_tls> tls_;
  std::string input_;
  std::size_t at_ = 0; ///< in `input_`
  std::string login_, last_reply_;
  taken_message open_;
  int queued_ = 0;
};

smtp_server::smtp_server(smtp_ways ways) : ways_(std::move(ways)) {
  if (ways_.proof) {
    context_.reset(SSL_CTX_new(TLS_server_method()));
    SSL_CTX_use_certificate(context_.get(), ways_.proof->proof.get());
    SSL_CTX_use_PrivateKey(context_.get(), ways_.proof->key.get());
  }
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener_, generic, size) != 0 || ::listen(listener_, 512) != 0
      || ::getsockname(listener_, generic, &size) != 0)
    throw std::runtime_error("test server: no port");
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] {
    for (int socket; (socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) {
      std::lock_guard lock(mutex_);
      ++accepted_;
      open_.insert(socket);
      most_open_ = std::max(most_open_.load(), static_cast<int>(open_.size()));
      threads_.emplace_back([this, socket] { serve(socket); });
      if (stopping_)
        ::shutdown(socket, SHUT_RDWR);
    }
  });
}

smtp_server::~smtp_server() {
  ::shutdown(listener_, SHUT_RDWR);
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  close_all();
  acceptor_.join();
  for (auto& each : threads_)
    each.join();
  ::close(listener_);
}

void smtp_server::close_all() {
  std::lock_guard lock(mutex_);
  for (const int each : open_)
    ::shutdown(each, SHUT_RDWR);
}

void smtp_server::serve(int socket) {
  sigset_t broken_pipes; // of this thread only: the client under test must do without
  ::sigemptyset(&broken_pipes);
  ::sigaddset(&broken_pipes, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &broken_pipes, nullptr);
  smtp_session{*this, socket}.run();
  std::lock_guard lock(mutex_);
  open_.erase(socket);
  ::close(socket);
}

int smtp_server::open() const {
  std::lock_guard lock(mutex_);
  return static_cast<int>(open_.size());
}

std::vector<taken_message> smtp_server::taken() const {
  std::lock_guard lock(mutex_);
  return taken_;
}

std::vector<std::string> smtp_server::commands() const {
  std::lock_guard lock(mutex_);
  return commands_;
}

long smtp_server::count(const std::string& command) const {
  std::lock_guard lock(mutex_);
  return std::count_if(commands_.begin(), commands_.end(),
                       [&command](const auto& each) { return each.starts_with(command); });
}

smtp_options plain_options(const smtp_server& server) {
  smtp_options options;
  options.host = "127.0.0.1";
  options.port = server.port();
  options.security = smtp_options::protection::none;
  options.allow_private = true;
  options.greeting = "paceline.example";
  options.quota = rate::per_second(20);
  return options;
}

smtp_options tls_options(const smtp_server& server, const authority& trusted) {
  auto options = plain_options(server);
  options.host = "localhost";
  options.security = smtp_options::protection::starttls;
  options.ca_file = trusted.file();
  return options;
}

outgoing_message message_to(const std::string& recipient, const std::string& body) {
  outgoing_message message;
  message.of = {message_id{4711}, 1};
  message.sender = "Paceline <news@paceline.example>";
  message.recipients = {recipient};
  message.raw = "Subject: Test\r\nMessage-ID: <4711@paceline.example>\r\n\r\n" + body;
  return message;
}

behaviour on(std::string when, deed does) {
  return [when = std::move(when), does = std::move(does)](const std::string& command) {
    const bool fits = when.empty() ? command.empty() : command.starts_with(when);
    return fits ? std::optional{does} : std::nullopt;
  };
}

} // namespace paceline::smtp_test
