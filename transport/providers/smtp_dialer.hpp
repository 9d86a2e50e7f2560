/// Connections to one SMTP server, made by libcurl: name look-up, address check, TLS, EHLO,
/// STARTTLS and AUTH. What comes out is a link: a socket that carries octets, protected as
/// configured.
///
/// The links outlive libcurl's transfers (CURLOPT_CONNECT_ONLY), so they have an engine of their
/// own instead of one of `curl_engine`, under the same rules: certificates are always verified, the
/// address actually connected to is checked, no proxy is used. On the reactor's thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "transport/providers/provider.hpp"
#include "transport/providers/smtp.hpp"
#include "transport/providers/smtp_message.hpp"

namespace paceline {

class smtp_link {
public:
  enum class state {
    fine,
    blocked, ///< try again when the socket is ready
    lost,
  };
  virtual ~smtp_link() = default; ///< closes it at once and without a word
  virtual int socket() const = 0;
  virtual const smtp_extensions& offered() const = 0;
  /// Takes octets off the front of `octets`. After `blocked` it wants the same octets again, at the
  /// same place.
  virtual state send(std::string_view& octets) = 0;
  /// Appends what has come, up to 16 KiB.
  virtual state receive(std::string& to) = 0;
};

class smtp_dialer {
public:
  /// A link that is ready for MAIL FROM, or the answer for whoever waits for one.
  using dialed = std::variant<std::unique_ptr<smtp_link>, provider_answer>;

  /// Throws std::runtime_error where the CA file can't be read. `loop` outlives this and the links.
  smtp_dialer(reactor& loop, const smtp_options& options);
  /// Ends what is being dialed, without a word. Links live on.
  ~smtp_dialer();

  /// `done` is called once, from the reactor.
  void dial(std::function<void(dialed)> done);

private:
  class impl;
  std::shared_ptr<impl> impl_;
};

} // namespace paceline
