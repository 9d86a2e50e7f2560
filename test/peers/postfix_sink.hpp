/// Debian's Postfix as an instance of its own: on a free port of the loopback address, with its own
/// configuration, queue and log in a temporary folder, delivering into files there. Nothing of it
/// can leave the machine, and the machine's own Postfix is not touched.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace paceline::test {

class postfix_sink {
public:
  /// Why there can't be one here: not installed, or not root, as its daemon must be. Empty: it can.
  static std::string obstacle();

  /// The files are what it shows in STARTTLS. Takes mail for example.com; refuses
  /// `nobody@example.com` (550) and `later@example.com` (450). Throws std::runtime_error with its
  /// log where it does not start.
  postfix_sink(const std::string& certificate_file, const std::string& key_file);
  ~postfix_sink(); ///< ends its processes and removes the folder
  postfix_sink(const postfix_sink&) = delete;
  postfix_sink& operator=(const postfix_sink&) = delete;

  int port() const { return port_; }
  /// What was delivered so far, lines ending in LF, with the fields that Postfix puts in front.
  std::vector<std::string> delivered() const;
  std::string log() const;

private:
  void configure(const std::string& certificate_file, const std::string& key_file) const;

  std::filesystem::path folder_;
  int port_ = 0;
  pid_t master_ = 0;
};

} // namespace paceline::test
