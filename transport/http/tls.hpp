/// TLS 1.2 and 1.3 for a listener, by certificate files, on OpenSSL.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "storage/result.hpp"
#include "transport/http/channel.hpp"

namespace paceline {

/// Certificate and key of a listener. Thread-safe.
class tls_identity {
public:
  /// PEM files: the certificate with its chain, and its key without a pass phrase. Error `refused`:
  /// which file is wrong and why.
  static result<std::unique_ptr<tls_identity>> load(std::string certificate, std::string key);
  ~tls_identity();

  /// Reads the files again. On an error the old ones stay.
  result<done> reload();
  /// The server's side of a new connection, with what was loaded last. Null without memory.
  std::unique_ptr<channel> accept(owned_socket socket);

private:
  struct context;
  tls_identity(std::string certificate, std::string key);
  result<std::shared_ptr<context>> read_files() const;

  const std::string certificate_, key_;
  std::mutex mutex_;
  std::shared_ptr<context> current_;
};

} // namespace paceline
