/// A provider's stand-in as a process of its own (docs/simulators.md).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

#include "test/support/ledger_reader.hpp"

namespace paceline::test {

/// Started by the constructor, which returns once it listens on free ports of 127.0.0.1; ended by
/// the destructor, or by the kernel where the thread that started it ends. Its files are in a
/// folder of its own. Everything throws with what the stand-in said. Not thread-safe.
class simulator {
public:
  /// `kind` is ses, batch or smtp; `options` are those of `paceline-simulators KIND`. By default
  /// the latency is 5 ms; an option given here comes later and wins.
  explicit simulator(const std::string& kind, const std::vector<std::string>& options = {});
  simulator(const simulator&) = delete;
  simulator& operator=(const simulator&) = delete;
  ~simulator();

  int port() const { return port_; }
  /// `https://localhost:PORT`, or `smtp://localhost:PORT`.
  std::string endpoint() const;
  std::string ca_file() const { return folder_ + "/ca.pem"; }
  std::string ledger_file() const { return folder_ + "/ledger"; }
  std::vector<ledger_line> ledger() const { return read_ledger(ledger_file()); }
  /// The message as it was given, from the folder of kept ones.
  std::string kept(std::int64_t message, int version = 0) const;

  /// POST /control; returns the state, JSON. Throws where a field is wrong.
  std::string control(const std::string& json) const;
  /// A counter of the control endpoint, 0 where nothing was counted.
  std::int64_t counted(const std::string& counter) const;

  /// The access key that requests must be signed with, and its secret.
  static std::string access_key() { return "AKIDEXAMPLE"; }
  static std::string secret_key() { return "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"; }

  /// SIGTERM, and gone: what was kept and the ledger stay until the destructor. From then on the
  /// port refuses connections.
  void stop();
  pid_t id() const { return process_; }

private:
  void start(std::vector<std::string> arguments);
  std::string ask_control(const std::string& method, const std::string& json) const;
  std::string errors() const;

  std::string kind_, folder_;
  pid_t process_ = 0;
  int port_ = 0, control_ = 0;
};

} // namespace paceline::test
