#include "tools/simulators/listening.hpp"

#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <boost/asio/signal_set.hpp>

namespace paceline::simulators {
namespace {

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw std::runtime_error("can't read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace

certificates identity_for(const place& where) {
  if (!where.certificate.empty())
    return {"", content_of(where.certificate), content_of(where.key)};
  auto made = make_certificates(where.flaw);
  if (where.ca_file.empty())
    return made;
  std::ofstream file(where.ca_file);
  file << made.authority;
  if (!file.flush())
    throw std::runtime_error("can't write " + where.ca_file);
  return made;
}

void serve_until_told(boost::asio::io_context& loop, std::uint16_t port, std::uint16_t control) {
  boost::asio::signal_set signals(loop, SIGTERM, SIGINT);
  signals.async_wait([&loop](const boost::system::error_code&, int) { loop.stop(); });
  std::printf("{\"port\":%u,\"control\":%u}\n", port, control);
  std::fflush(stdout);
  loop.run();
}

} // namespace paceline::simulators
