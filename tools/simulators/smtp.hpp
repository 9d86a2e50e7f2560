/// An SMTP server that delivers nothing: STARTTLS or TLS at once, AUTH PLAIN and LOGIN, PIPELINING.
///
/// Refuses recipients and messages by their addresses (`rcpt-450@simulator.paceline.test`,
/// `data-554@...`, behaviour.hpp) and drops connections before or after the final dot. The quota is
/// looked at after the final dot, as SES does it: 454. Whose message it is stands in its headers
/// X-Paceline-Message and X-Paceline-Version, or else in its Message-ID:
/// `<ID.VERSION.anything@...>`. RFC 5321, 3207, 4954, 2920.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>

#include "tools/simulators/certificates.hpp"
#include "tools/simulators/simulation.hpp"

namespace paceline::simulators {

struct smtp_options {
  bool starttls = true;     ///< offered, and wanted before AUTH and MAIL
  bool tls_at_once = false; ///< from the first octet, in place of STARTTLS
  bool pipelining = true;
  std::string user, password; ///< empty: anybody may send, AUTH is not offered
  std::size_t longest_message = 50 << 20;
};

/// Whose message: from its head.
message_tags tags_of_mail(const std::string& raw);

class smtp_server {
public:
  /// As http_server.
  smtp_server(boost::asio::io_context& loop, simulation& with, const smtp_options& options,
              const std::string& address, std::uint16_t port, const certificates& identity);
  smtp_server(const smtp_server&) = delete;
  smtp_server& operator=(const smtp_server&) = delete;
  ~smtp_server();

  std::uint16_t port() const;
  std::size_t connections() const;

private:
  class impl;
  std::shared_ptr<impl> impl_;
};

} // namespace paceline::simulators
