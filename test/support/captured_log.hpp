/// A logger that writes into a file of its own, and what it wrote.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "config/logging.hpp"

namespace paceline::test {

class captured_log {
public:
  captured_log() : file_(std::tmpfile()), log(log_level::info, log_format::json, ::fileno(file_)) {}
  ~captured_log() { std::fclose(file_); }
  captured_log(const captured_log&) = delete;
  captured_log& operator=(const captured_log&) = delete;

  /// The lines that contain `part`.
  std::vector<std::string> lines(const std::string& part) const {
    std::rewind(file_);
    std::vector<std::string> found(1);
    for (int c = std::fgetc(file_); c != EOF; c = std::fgetc(file_)) {
      if (c != '\n') {
        found.back() += static_cast<char>(c);
        continue;
      }
      if (found.back().find(part) == std::string::npos)
        found.pop_back();
      found.emplace_back();
    }
    found.pop_back();
    return found;
  }

private:
  std::FILE* file_;

public:
  logger log;
};

} // namespace paceline::test
