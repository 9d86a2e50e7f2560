/// A server that does exactly what a test's script says, its certificates, and a client that is run
/// until it has its answers.
#pragma once

#include <openssl/ssl.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "transport/epoll_reactor.hpp"
#include "transport/outgoing/http_client.hpp"

namespace paceline::outgoing_test {

using namespace std::chrono_literals;

struct free_tls {
  void operator()(SSL_CTX* what) const { SSL_CTX_free(what); }
  void operator()(SSL* what) const { SSL_free(what); }
  void operator()(X509* what) const { X509_free(what); }
  void operator()(EVP_PKEY* what) const { EVP_PKEY_free(what); }
};
using certificate = std::unique_ptr<X509, free_tls>;
using private_key = std::unique_ptr<EVP_PKEY, free_tls>;

/// A certificate with its key, as a server has it.
struct identity {
  certificate proof;
  private_key key;
};

/// A certificate authority of one's own, made on the spot; its file goes with it.
class authority {
public:
  explicit authority(const std::string& name = "Paceline test authority");
  ~authority();
  authority(const authority&) = delete;
  authority& operator=(const authority&) = delete;

  /// PEM, as `engine_options::ca_file` wants it.
  const std::string& file() const { return file_; }
  /// `valid_for` seconds from now; below zero it has expired.
  identity issue(const std::string& host, long valid_for = 3600) const;

private:
  identity own_;
  std::string file_;
};

/// PEM files of an identity, for servers that are other programs.
class identity_files {
public:
  explicit identity_files(const identity& what);
  ~identity_files();
  identity_files(const identity_files&) = delete;
  identity_files& operator=(const identity_files&) = delete;
  std::string certificate_file, key_file;
};

/// One accepted connection, on its own thread. Ends when the script returns.
class server_connection {
public:
  server_connection(int socket, SSL* session) : socket_(socket), session_(session) {}

  /// Head and body; nothing when the client has closed.
  std::optional<std::string> read_request();
  /// False once the client has closed.
  bool write(std::string_view octets);
  /// Until the client closes.
  void wait_for_end();
  /// Reset instead of an orderly end.
  void cut();

private:
  bool read_some();

  int socket_;
  SSL* session_; ///< null: plain
  std::string input_;
};

class scripted_server {
public:
  using script = std::function<void(server_connection&)>;
  /// Plain HTTP, or TLS where it has an identity. The script runs for each connection after its
  /// handshake, several at a time.
  explicit scripted_server(script does, const identity* proof = nullptr);
  ~scripted_server();
  scripted_server(const scripted_server&) = delete;
  scripted_server& operator=(const scripted_server&) = delete;

  int port() const { return port_; }
  /// `https://localhost:PORT/path`, or `http` without an identity.
  std::string url(const std::string& path = "/") const;
  int accepted() const { return accepted_; }

private:
  void serve(int socket);

  script script_;
  std::unique_ptr<SSL_CTX, free_tls> context_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<int> accepted_{0};
  std::mutex mutex_;
  std::set<int> open_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

/// What came, in order. Thread-safe.
class request_ledger {
public:
  void add(std::string what);
  std::vector<std::string> all() const;
  long count(const std::string& what) const;

private:
  mutable std::mutex mutex_;
  std::vector<std::string> entries_;
};

std::string body_of(const std::string& request);
/// `200` with this body.
std::string ok(const std::string& body = "fine");
/// Answers every request and notes its body; ends when the client does.
scripted_server::script answering(request_ledger& ledger);

/// An engine's options for a server on this machine.
engine_options local_options(const authority* trusted = nullptr);

/// A client on a reactor that runs while a test waits.
class client_stage {
public:
  explicit client_stage(engine_options options) : client(loop, std::move(options)) {}

  /// Sends a POST with this body and runs until it has its answer.
  http_result post(const std::string& url, const std::string& body = "");
  http_result ask(
      outgoing_request what, std::function<bool()> may_write = [] { return true; });
  /// False after a long while.
  bool run_until(const std::function<bool()>& done);

  machine_boot_time clock;
  epoll_reactor loop{clock};
  http_client client;
};

std::ostream& print(std::ostream& to, transfer_end end);

} // namespace paceline::outgoing_test

namespace paceline {
inline std::ostream& operator<<(std::ostream& to, transfer_end end) {
  return outgoing_test::print(to, end);
}
} // namespace paceline
