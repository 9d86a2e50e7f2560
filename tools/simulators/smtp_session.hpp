/// One client's conversation with the SMTP stand-in.
#pragma once

#include <string>
#include <string_view>
#include <utility> // Asio 1.74 forgets it
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "tools/simulators/smtp.hpp"
#include "tools/simulators/smtp_stream.hpp"

namespace paceline::simulators {

/// All references outlive it.
class smtp_session {
public:
  smtp_session(boost::asio::ip::tcp::socket& socket, simulation& with, const smtp_options& options,
               boost::asio::ssl::context& tls)
      : stream_(socket), timer_(socket.get_executor()), with_(with), options_(options), tls_(tls) {}

  /// From the banner to the end.
  boost::asio::awaitable<void> run();

private:
  using done = boost::asio::awaitable<bool>; ///< false: the connection is over

  done greet();
  done obey(const std::string& line);
  done hello(bool is_extended);
  done start_tls();
  done authenticate(std::string_view arguments);
  done mail(const std::string& line);
  done recipient(const std::string& line);
  done data();
  done finish(const std::string& raw);
  /// Texts live until the answer was written. No temporaries with destructors in a `co_await`:
  /// GCC 12 makes wrong code of some.
  done answer_slowly(std::string_view text, nanoseconds delay);
  done say(std::string_view text);
  bool may_send() const;

  smtp_stream stream_;
  boost::asio::steady_timer timer_;
  simulation& with_;
  const smtp_options& options_;
  boost::asio::ssl::context& tls_;
  bool is_known_ = false, has_sender_ = false, is_reused_ = false;
  std::vector<std::string> recipients_;
};

} // namespace paceline::simulators
