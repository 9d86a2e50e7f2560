#include "transport/http/tls.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <climits>
#include <utility>

namespace paceline {
namespace {

struct free_ssl {
  void operator()(SSL* session) const { SSL_free(session); }
};
using ssl_session = std::unique_ptr<SSL, free_ssl>;

/// What OpenSSL complains about; empties this thread's list of complaints.
std::string reason() {
  auto code = ERR_peek_error();
  ERR_clear_error();
  if (code == 0)
    return "it can't be used";
  if (ERR_SYSTEM_ERROR(code))
    return std::generic_category().message(ERR_GET_REASON(code));
  const char* text = ERR_reason_error_string(code);
  return text ? text : "error " + std::to_string(code);
}

error unusable(const std::string& what, const std::string& file) {
  return {error_kind::refused, what + " " + file + ": " + reason()};
}

class tls_channel final : public channel {
public:
  tls_channel(owned_socket socket, ssl_session session)
      : socket_(std::move(socket)), session_(std::move(session)) {}

  ~tls_channel() override { end_session(); }

  progress handshake() override {
    ERR_clear_error();
    int done = SSL_accept(session_.get());
    return done == 1 ? progress::made : progress_of(done, progress::ended);
  }

  transfer read(std::span<char> buffer) override {
    ERR_clear_error();
    int count = SSL_read(session_.get(), buffer.data(), clamp(buffer.size()));
    return moved(count);
  }

  transfer write(std::string_view bytes) override {
    ERR_clear_error();
    return moved(SSL_write(session_.get(), bytes.data(), clamp(bytes.size())));
  }

  void end_writing() override {
    end_session();
    ::shutdown(descriptor(), SHUT_WR);
  }

  int descriptor() const override { return socket_.number(); }

private:
  static int clamp(std::size_t size) { return size > INT_MAX ? INT_MAX : static_cast<int>(size); }

  /// Says goodbye once, where the session is sound; never waits for the peer's.
  void end_session() {
    if (is_sound_ && SSL_is_init_finished(session_.get()))
      SSL_shutdown(session_.get());
    is_sound_ = false;
    ERR_clear_error();
  }

  progress progress_of(int returned, progress otherwise) {
    switch (SSL_get_error(session_.get(), returned)) {
    case SSL_ERROR_WANT_READ:
      return progress::wants_read;
    case SSL_ERROR_WANT_WRITE:
      return progress::wants_write;
    case SSL_ERROR_SSL:
    case SSL_ERROR_SYSCALL:
      is_sound_ = false;
      return otherwise;
    default:
      return otherwise;
    }
  }

  transfer moved(int count) {
    if (count > 0)
      return {progress::made, static_cast<std::size_t>(count)};
    return {progress_of(count, progress::ended), 0};
  }

  owned_socket socket_;
  ssl_session session_;
  bool is_sound_ = true;
};

} // namespace

struct tls_identity::context {
  struct free_context {
    void operator()(SSL_CTX* each) const { SSL_CTX_free(each); }
  };
  std::unique_ptr<SSL_CTX, free_context> ssl;
};

tls_identity::tls_identity(std::string certificate, std::string key)
    : certificate_(std::move(certificate)), key_(std::move(key)) {}

tls_identity::~tls_identity() = default;

result<std::unique_ptr<tls_identity>> tls_identity::load(std::string certificate, std::string key) {
  std::unique_ptr<tls_identity> made(new tls_identity(std::move(certificate), std::move(key)));
  if (auto loaded = made->reload(); !loaded)
    return loaded.failure();
  return made;
}

result<std::shared_ptr<tls_identity::context>> tls_identity::read_files() const {
  ERR_clear_error();
  auto made = std::make_shared<context>();
  made->ssl.reset(SSL_CTX_new(TLS_server_method()));
  auto* ssl = made->ssl.get();
  if (!ssl)
    return error{error_kind::refused, "TLS can't be used: " + reason()};
  SSL_CTX_set_min_proto_version(ssl, TLS1_2_VERSION);
  SSL_CTX_set_options(ssl, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION
                               | SSL_OP_CIPHER_SERVER_PREFERENCE);
  // Buffers of idle connections go back; what is left of an answer may be written from elsewhere.
  SSL_CTX_set_mode(ssl, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE
                            | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  // A key with a pass phrase is an error: nobody is there to be asked.
  SSL_CTX_set_default_passwd_cb(ssl, [](char*, int, int, void*) { return 0; });
  if (SSL_CTX_use_certificate_chain_file(ssl, certificate_.c_str()) != 1)
    return unusable("TLS certificate", certificate_);
  if (SSL_CTX_use_PrivateKey_file(ssl, key_.c_str(), SSL_FILETYPE_PEM) != 1)
    return unusable("TLS key", key_);
  if (SSL_CTX_check_private_key(ssl) != 1)
    return unusable("TLS key", key_ + " (for certificate " + certificate_ + ")");
  return made;
}

result<done> tls_identity::reload() {
  auto made = read_files();
  if (!made)
    return made.failure();
  std::lock_guard lock(mutex_);
  current_ = *made;
  return done{};
}

std::unique_ptr<channel> tls_identity::accept(owned_socket socket) {
  std::shared_ptr<context> used;
  {
    std::lock_guard lock(mutex_);
    used = current_;
  }
  ssl_session session(SSL_new(used->ssl.get()));
  if (!session || SSL_set_fd(session.get(), socket.number()) != 1)
    return nullptr;
  return std::make_unique<tls_channel>(std::move(socket), std::move(session));
}

} // namespace paceline
