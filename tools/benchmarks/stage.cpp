#include "tools/benchmarks/stage.hpp"

#include <cstdio>
#include <utility>

namespace paceline::bench {

stage::stage(stage_options options) : options_(std::move(options)) {}

void stage::sleep(std::chrono::milliseconds time) {
  if (!interrupts_.sleep(time))
    return;
  leave_line();
  throw interrupted();
}

void stage::note(std::string_view text) {
  leave_line();
  std::fprintf(stderr, "bench: %.*s\n", static_cast<int>(text.size()), text.data());
}

void stage::progress(const std::string& text) {
  const auto now = std::chrono::steady_clock::now();
  if (errors_.is_terminal) {
    std::fprintf(stderr, "\rbench: %.*s\x1b[K", errors_.width - 8, text.c_str());
    std::fflush(stderr);
    is_open_ = true;
  } else if (now >= next_line_) {
    std::fprintf(stderr, "bench: %s\n", text.c_str());
    next_line_ = now + std::chrono::seconds{5};
  }
}

void stage::leave_line() {
  if (std::exchange(is_open_, false))
    std::fputs("\n", stderr);
}

} // namespace paceline::bench
