#include "test/unit/outgoing_support.hpp"

#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <ostream>
#include <stdexcept>
#include <utility>

namespace paceline::outgoing_test {
namespace {

constexpr auto long_while = 20s;

void check(bool worked, const char* what) {
  if (!worked)
    throw std::runtime_error(std::string("test server: ") + what);
}

/// A new file below /tmp that `fill` writes.
std::string file_with(const std::function<int(FILE*)>& fill) {
  std::string name = "/tmp/paceline-outgoing-XXXXXX";
  FILE* file = ::fdopen(::mkstemp(name.data()), "w");
  check(file && fill(file) == 1, "a PEM file can't be written");
  std::fclose(file);
  return name;
}

void add_extension(X509* to, int kind, const std::string& value) {
  auto* made = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str());
  check(made && X509_add_ext(to, made, -1) == 1, "an extension is refused");
  X509_EXTENSION_free(made);
}

/// Not signed yet.
identity blank(const std::string& name, long valid_for) {
  static std::atomic<long> serial{1};
  identity made{certificate(X509_new()), private_key(EVP_EC_gen("P-256"))};
  auto* proof = made.proof.get();
  X509_set_version(proof, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(proof), serial++);
  X509_gmtime_adj(X509_getm_notBefore(proof), std::min(0L, valid_for) - 3600);
  X509_gmtime_adj(X509_getm_notAfter(proof), valid_for);
  auto* subject = X509_get_subject_name(proof);
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509_set_pubkey(proof, made.key.get());
  return made;
}

void sign(const identity& what, const identity& by) {
  X509_set_issuer_name(what.proof.get(), X509_get_subject_name(by.proof.get()));
  check(X509_sign(what.proof.get(), by.key.get(), EVP_sha256()) > 0, "signing failed");
}

std::size_t body_length(const std::string& head) {
  auto at = head.find("Content-Length: ");
  return at == head.npos ? 0 : std::stoul(head.substr(at + 16));
}

} // namespace

authority::authority(const std::string& name) : own_(blank(name, 3600)) {
  add_extension(own_.proof.get(), NID_basic_constraints, "critical,CA:TRUE");
  add_extension(own_.proof.get(), NID_key_usage, "critical,keyCertSign");
  sign(own_, own_);
  file_ = file_with([this](FILE* to) { return PEM_write_X509(to, own_.proof.get()); });
}

authority::~authority() {
  ::unlink(file_.c_str());
}

identity authority::issue(const std::string& host, long valid_for) const {
  auto made = blank(host, valid_for);
  add_extension(made.proof.get(), NID_subject_alt_name, "DNS:" + host);
  sign(made, own_);
  return made;
}

identity_files::identity_files(const identity& what)
    : certificate_file(
        file_with([&what](FILE* to) { return PEM_write_X509(to, what.proof.get()); })),
      key_file(file_with([&what](FILE* to) {
        return PEM_write_PrivateKey(to, what.key.get(), nullptr, nullptr, 0, nullptr, nullptr);
      })) {}

identity_files::~identity_files() {
  ::unlink(certificate_file.c_str());
  ::unlink(key_file.c_str());
}

bool server_connection::read_some() {
  std::array<char, 16384> buffer{};
  auto count = session_ ? SSL_read(session_, buffer.data(), buffer.size())
                        : static_cast<int>(::recv(socket_, buffer.data(), buffer.size(), 0));
  if (count > 0)
    input_.append(buffer.data(), static_cast<std::size_t>(count));
  return count > 0;
}

std::optional<std::string> server_connection::read_request() {
  std::size_t end = 0;
  while ((end = input_.find("\r\n\r\n")) == input_.npos)
    if (!read_some())
      return {};
  auto whole = end + 4 + body_length(input_.substr(0, end));
  while (input_.size() < whole)
    if (!read_some())
      return {};
  auto request = input_.substr(0, whole);
  input_.erase(0, whole);
  return request;
}

bool server_connection::write(std::string_view octets) {
  while (!octets.empty()) {
    auto size = std::min<std::size_t>(octets.size(), 16384);
    auto count = session_ ? SSL_write(session_, octets.data(), static_cast<int>(size))
                          : static_cast<int>(::send(socket_, octets.data(), size, MSG_NOSIGNAL));
    if (count <= 0)
      return false;
    octets.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

void server_connection::wait_for_end() {
  while (read_some())
    input_.clear();
}

void server_connection::cut() {
  linger now{1, 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  session_ = nullptr;
}

scripted_server::scripted_server(script does, const identity* proof) : script_(std::move(does)) {
  if (proof) {
    context_.reset(SSL_CTX_new(TLS_server_method()));
    check(SSL_CTX_use_certificate(context_.get(), proof->proof.get()) == 1
              && SSL_CTX_use_PrivateKey(context_.get(), proof->key.get()) == 1,
          "the identity is refused");
  }
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  check(::bind(listener_, generic, size) == 0 && ::listen(listener_, 512) == 0
            && ::getsockname(listener_, generic, &size) == 0,
        "no port");
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] {
    for (int accepted; (accepted = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) {
      ++accepted_;
      std::lock_guard lock(mutex_);
      open_.insert(accepted);
      threads_.emplace_back([this, accepted] { serve(accepted); });
      if (stopping_)
        ::shutdown(accepted, SHUT_RDWR);
    }
  });
}

scripted_server::~scripted_server() {
  ::shutdown(listener_, SHUT_RDWR);
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    for (int each : open_)
      ::shutdown(each, SHUT_RDWR);
  }
  acceptor_.join();
  for (auto& each : threads_)
    each.join();
  ::close(listener_);
}

std::string scripted_server::url(const std::string& path) const {
  return (context_ ? "https://localhost:" : "http://localhost:") + std::to_string(port_) + path;
}

void scripted_server::serve(int socket) {
  sigset_t broken_pipes; // of this thread only: the client under test must do without
  ::sigemptyset(&broken_pipes);
  ::sigaddset(&broken_pipes, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &broken_pipes, nullptr);
  std::unique_ptr<SSL, free_tls> session(context_ ? SSL_new(context_.get()) : nullptr);
  if (session)
    SSL_set_fd(session.get(), socket);
  if (!session || SSL_accept(session.get()) == 1) {
    server_connection connection(socket, session.get());
    script_(connection);
  }
  std::lock_guard lock(mutex_);
  open_.erase(socket);
  ::close(socket);
}

void request_ledger::add(std::string what) {
  std::lock_guard lock(mutex_);
  entries_.push_back(std::move(what));
}

std::vector<std::string> request_ledger::all() const {
  std::lock_guard lock(mutex_);
  return entries_;
}

long request_ledger::count(const std::string& what) const {
  std::lock_guard lock(mutex_);
  return std::count(entries_.begin(), entries_.end(), what);
}

std::string body_of(const std::string& request) {
  return request.substr(request.find("\r\n\r\n") + 4);
}

std::string ok(const std::string& body) {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

scripted_server::script answering(request_ledger& ledger) {
  return [&ledger](server_connection& client) {
    while (auto request = client.read_request()) {
      ledger.add(body_of(*request));
      client.write(ok());
    }
  };
}

engine_options local_options(const authority* trusted) {
  engine_options options;
  options.allow_private = true;
  options.max_connections = 50;
  if (trusted)
    options.ca_file = trusted->file();
  return options;
}

http_result client_stage::post(const std::string& url, const std::string& body) {
  outgoing_request what;
  what.url = url;
  what.body = body;
  return ask(std::move(what));
}

http_result client_stage::ask(outgoing_request what, std::function<bool()> may_write) {
  std::optional<http_result> got;
  client.send(std::move(what), std::move(may_write),
              [&got](http_result result) { got = std::move(result); });
  if (!run_until([&got] { return got.has_value(); }))
    throw std::runtime_error("no answer for a long while");
  return *got;
}

bool client_stage::run_until(const std::function<bool()>& done) {
  auto give_up = clock.now() + long_while;
  while (!done() && clock.now() < give_up) {
    loop.wait(give_up);
    loop.run_timers();
  }
  return done();
}

std::ostream& print(std::ostream& to, transfer_end end) {
  switch (end) {
  case transfer_end::answered:
    return to << "answered";
  case transfer_end::not_written:
    return to << "not_written";
  case transfer_end::not_taken:
    return to << "not_taken";
  case transfer_end::refused:
    return to << "refused";
  case transfer_end::lost:
    return to << "lost";
  case transfer_end::timed_out:
    return to << "timed_out";
  case transfer_end::too_large:
    return to << "too_large";
  }
  return to << "?";
}

} // namespace paceline::outgoing_test
