#include "tools/paceline/operator_name.hpp"

#include <array>

#include <pwd.h>
#include <unistd.h>

namespace paceline {

std::string operator_name() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0)
    host[0] = '?';
  std::array<char, 4096> room{};
  passwd entry{};
  passwd* found = nullptr;
  ::getpwuid_r(::getuid(), &entry, room.data(), room.size(), &found);
  const auto user = found ? std::string{found->pw_name} : std::to_string(::getuid());
  return "cli:" + user + "@" + host.data();
}

} // namespace paceline
