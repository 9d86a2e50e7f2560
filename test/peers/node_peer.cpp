#include "test/peers/node_peer.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <boost/test/unit_test.hpp>

extern char** environ;

namespace paceline::test {

std::optional<std::string> peer_script(const std::string& name) {
  const auto* const folder = std::getenv("PACELINE_PEERS");
  if (folder == nullptr
      || !std::filesystem::exists(std::filesystem::path{folder} / "node_modules")) {
    BOOST_TEST_MESSAGE("SKIPPED: " << name
                                   << ": no node modules in PACELINE_PEERS (test/npm_install makes "
                                      "them)");
    return std::nullopt;
  }
  const auto script = std::filesystem::path{folder} / name;
  std::filesystem::copy_file(std::filesystem::path{PACELINE_SOURCE_DIR} / "test/peers" / name,
                             script, std::filesystem::copy_options::overwrite_existing);
  return script.string();
}

node_peer::node_peer(const std::vector<std::string>& arguments) {
  std::array<int, 2> in{}, out{};
  if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0)
    throw std::system_error(errno, std::generic_category(), "pipe");
  posix_spawn_file_actions_t wiring;
  ::posix_spawn_file_actions_init(&wiring);
  ::posix_spawn_file_actions_adddup2(&wiring, in[0], STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&wiring, out[1], STDOUT_FILENO);
  auto words = arguments;
  words.insert(words.begin(), "node");
  std::vector<char*> pointers;
  for (auto& word : words)
    pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const int failed = ::posix_spawnp(&process_, "node", &wiring, nullptr, pointers.data(), environ);
  ::posix_spawn_file_actions_destroy(&wiring);
  ::close(in[0]);
  ::close(out[1]);
  input_ = in[1];
  output_ = out[0];
  if (failed != 0)
    throw std::system_error(failed, std::generic_category(), "node");
}

node_peer::~node_peer() {
  ::close(input_);
  ::waitpid(process_, nullptr, 0);
  ::close(output_);
}

std::string node_peer::read_line() {
  std::string line;
  for (char c = 0; ::read(output_, &c, 1) == 1 && c != '\n';)
    line += c;
  return line;
}

} // namespace paceline::test
