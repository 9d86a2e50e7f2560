/// An SMTP server that does what a test says and keeps what it took, and messages for it.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "test/support/provider_stage.hpp"
#include "test/unit/outgoing_support.hpp"
#include "transport/providers/smtp.hpp"

namespace paceline::smtp_test {

using namespace std::chrono_literals;
using outgoing_test::authority;
using outgoing_test::identity;

/// What a server does in place of its own reply. `command` is the line as it came, `.` for the end
/// of a message, empty for the greeting, and `text` for the first line of a message.
struct deed {
  std::string reply;          ///< without its CRLF; empty: none
  bool drops = false;         ///< then closes the connection
  bool waits_for_end = false; ///< says nothing until the client closes
};
using behaviour = std::function<std::optional<deed>(const std::string& command)>;

struct smtp_ways {
  const identity* proof = nullptr; ///< for TLS
  bool implicit_tls = false;       ///< from the first octet; otherwise STARTTLS is offered
  std::string login;               ///< `user:password`; empty: no AUTH is offered
  std::string mechanisms = "PLAIN LOGIN";
  bool pipelining = true;
  behaviour special;
};

struct taken_message {
  std::string from, text; ///< MAIL FROM with its parameters; the text without doubled dots
  std::vector<std::string> to;
  bool by_tls = false;
  std::string login;
};

class smtp_server {
public:
  explicit smtp_server(smtp_ways ways = {});
  ~smtp_server();
  smtp_server(const smtp_server&) = delete;
  smtp_server& operator=(const smtp_server&) = delete;

  int port() const { return port_; }
  int accepted() const { return accepted_; }
  int most_open() const { return most_open_; } ///< connections at the same time
  int open() const;
  std::vector<taken_message> taken() const;
  std::vector<std::string> commands() const; ///< of all connections, as they came
  long count(const std::string& command) const;
  void close_all(); ///< connections

private:
  friend class smtp_session;
  void serve(int socket);

  smtp_ways ways_;
  std::unique_ptr<SSL_CTX, outgoing_test::free_tls> context_;
  int listener_ = -1, port_ = 0;
  std::atomic<int> accepted_{0}, most_open_{0};
  mutable std::mutex mutex_;
  std::set<int> open_;
  bool stopping_ = false;
  std::vector<taken_message> taken_;
  std::vector<std::string> commands_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

/// For a server without TLS on this machine.
smtp_options plain_options(const smtp_server& server);
/// For `localhost` with a certificate of this authority.
smtp_options tls_options(const smtp_server& server, const authority& trusted);

/// `Subject: ...`, to one recipient.
outgoing_message message_to(const std::string& recipient, const std::string& body = "Hello.\r\n");

class smtp_stage_of_test : public test::provider_stage {
public:
  explicit smtp_stage_of_test(const smtp_options& options)
      : provider_stage([&options](reactor& on) { return make_smtp_provider(on, options); }) {}
};

/// `when` a command begins so, do this; otherwise as ever.
behaviour on(std::string when, deed does);

} // namespace paceline::smtp_test
