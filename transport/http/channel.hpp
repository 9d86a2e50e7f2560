/// A connected socket, plain or under TLS, that never blocks.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace paceline {

/// A descriptor that is closed with its owner.
class owned_socket {
public:
  explicit owned_socket(int number = -1) : number_(number) {}
  ~owned_socket() { reset(); }
  owned_socket(owned_socket&& other) noexcept : number_(other.number_) { other.number_ = -1; }
  owned_socket& operator=(owned_socket&& other) noexcept {
    if (this != &other) {
      reset();
      number_ = other.number_;
      other.number_ = -1;
    }
    return *this;
  }
  int number() const { return number_; }
  void reset();

private:
  int number_;
};

/// How far a call got. `wants_*`: do it again when the socket is so.
enum class progress { made, wants_read, wants_write, ended };

struct transfer {
  progress state = progress::ended;
  std::size_t bytes = 0; ///< more than 0 where `state` is `made`
};

/// Used by one thread at a time.
class channel {
public:
  virtual ~channel() = default;
  virtual progress handshake() = 0;
  /// Under TLS `buffer` must hold a record (16 KiB), so that nothing stays behind unseen by epoll.
  virtual transfer read(std::span<char> buffer) = 0;
  virtual transfer write(std::string_view bytes) = 0;
  /// We write nothing more; the peer's bytes can still be read.
  virtual void end_writing() = 0;
  virtual int descriptor() const = 0;
};

std::unique_ptr<channel> plain_channel(owned_socket socket);

} // namespace paceline
