#include "transport/http/channel.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace paceline {
namespace {

class plain final : public channel {
public:
  explicit plain(owned_socket socket) : socket_(std::move(socket)) {}

  progress handshake() override { return progress::made; }

  transfer read(std::span<char> buffer) override {
    return moved(::recv(descriptor(), buffer.data(), buffer.size(), MSG_DONTWAIT),
                 progress::wants_read);
  }

  transfer write(std::string_view bytes) override {
    return moved(::send(descriptor(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL),
                 progress::wants_write);
  }

  void end_writing() override { ::shutdown(descriptor(), SHUT_WR); }
  int descriptor() const override { return socket_.number(); }

private:
  static transfer moved(ssize_t count, progress when_blocked) {
    if (count > 0)
      return {progress::made, static_cast<std::size_t>(count)};
    bool is_blocked = count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
    return {is_blocked ? when_blocked : progress::ended, 0};
  }

  owned_socket socket_;
};

} // namespace

void owned_socket::reset() {
  if (number_ >= 0)
    ::close(number_);
  number_ = -1;
}

std::unique_ptr<channel> plain_channel(owned_socket socket) {
  return std::make_unique<plain>(std::move(socket));
}

} // namespace paceline
