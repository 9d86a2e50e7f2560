/// Programs of node's that tests talk to, with modules that `test/npm_install` has put in the
/// folder PACELINE_PEERS.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace paceline::test {

/// The path of a script of test/peers, copied to where node finds the modules. Nothing where they
/// are not installed; then it says that the running test is SKIPPED.
std::optional<std::string> peer_script(const std::string& name);

/// `node arguments...` until this goes: its standard input ends then, and it is waited for.
class node_peer {
public:
  explicit node_peer(const std::vector<std::string>& arguments);
  ~node_peer();
  node_peer(const node_peer&) = delete;
  node_peer& operator=(const node_peer&) = delete;

  /// Of its standard output, without the line feed; empty at the end.
  std::string read_line();

private:
  pid_t process_ = 0;
  int input_ = -1, output_ = -1;
};

} // namespace paceline::test
