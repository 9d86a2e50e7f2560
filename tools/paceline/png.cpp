#include "tools/paceline/png.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "config/text.hpp"

extern char** environ;

namespace paceline {
namespace {

/// Closes a descriptor at the end.
class descriptor {
public:
  explicit descriptor(int number = -1) : number_(number) {}
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor&&) = delete;
  ~descriptor() { close(); }
  int get() const { return number_; }
  void close() {
    if (number_ >= 0)
      ::close(std::exchange(number_, -1));
  }

private:
  int number_;
};

error failed(const std::string& what) {
  return {error_kind::refused, what + ": " + std::strerror(errno)};
}

/// An unlinked file: what gnuplot reads or complains into. Unlike a pipe it never blocks.
descriptor scratch_file() {
  char path[] = "/tmp/paceline-plot-XXXXXX";
  descriptor file{::mkostemp(path, O_CLOEXEC)};
  if (file.get() >= 0)
    ::unlink(path);
  return file;
}

bool write_all(int to, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(to, text.data(), text.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return ::lseek(to, 0, SEEK_SET) == 0;
}

std::string complaint(int from) {
  std::array<char, 400> text{};
  const ssize_t got = ::pread(from, text.data(), text.size(), 0);
  std::string_view seen{text.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
  while (!seen.empty() && (seen.back() == '\n' || seen.back() == ' '))
    seen.remove_suffix(1);
  while (!seen.empty() && (seen.front() == '\n' || seen.front() == ' '))
    seen.remove_prefix(1);
  return printable(seen, 300);
}

/// Runs gnuplot with these descriptors as its standard ones; returns its exit status, or nothing
/// where it could not be started (errno says why).
std::optional<int> run_gnuplot(int input, int output, int errors) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
  // -d: whoever has a .gnuplot of their own must get the same picture.
  std::string program = "gnuplot", defaults = "-d", from_input = "-";
  std::array<char*, 4> arguments{program.data(), defaults.data(), from_input.data(), nullptr};
  pid_t child = 0;
  const int failure =
      ::posix_spawnp(&child, program.c_str(), &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) {
    errno = failure;
    return std::nullopt;
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return std::nullopt;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/// For gnuplot's single-quoted texts, in which only the quote itself is special.
std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : printable(text)) {
    if (c == '\'')
      out += '\'';
    out += c;
  }
  return out + "'";
}

} // namespace

std::string gnuplot_script(const picture& what) {
  const double target = what.target_per_second.value_or(0);
  std::string script = "set terminal pngcairo size 1000,500 noenhanced font 'sans,11'\n"
                       "set encoding utf8\n";
  script += "set title " + quoted(what.title) + "\n";
  script += "set xlabel 'seconds after the first start'\n"
            "set ylabel 'starts per second'\n"
            "set format y '%.0f'\n"
            "set yrange [0:*]\nset offsets 0, 0, graph 0.08, 0\n"
            "set grid ytics lc rgb '#dddddd'\n"
            "set style fill solid 0.85 noborder\n"
            "set key outside top right horizontal\nset tics out nomirror\n";
  script += "set xrange [-0.5:"
            + std::to_string(std::max<std::size_t>(what.dispatched.starts.size(), 1)) + " - 0.5]\n";
  // Gaps between many thin bars would only shimmer.
  script += what.dispatched.starts.size() > 60 ? "set boxwidth 1\n" : "set boxwidth 0.9\n";
  script += "$curve << END\n";
  std::int64_t second = 0;
  for (const auto starts : what.dispatched.starts)
    script += std::to_string(second++) + " " + std::to_string(starts) + "\n";
  if (what.dispatched.starts.empty())
    script += "0 0\n";
  script += "END\nplot $curve using 1:2 with boxes lc rgb '#3b6ea5' title 'started'";
  if (target > 0) {
    std::array<char, 40> number{};
    std::snprintf(number.data(), number.size(), "%.3f", target);
    script +=
        std::string{", "} + number.data() + " with lines lw 2 dt 2 lc rgb '#c0392b' title 'target'";
  }
  return script + "\n";
}

result<done> draw_png(const picture& what, const std::string& path) {
  const std::string partial = path + ".part";
  descriptor input = scratch_file(), errors = scratch_file();
  if (input.get() < 0 || errors.get() < 0 || !write_all(input.get(), gnuplot_script(what)))
    return failed("The picture needs a scratch file in /tmp");
  descriptor output{::open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)};
  if (output.get() < 0)
    return failed("Can't write the picture " + printable(path));

  const auto status = run_gnuplot(input.get(), output.get(), errors.get());
  const int reason = errno;
  output.close();
  if (status && *status == 0 && ::rename(partial.c_str(), path.c_str()) == 0)
    return done{};
  if (status && *status == 0)
    return failed("Can't write the picture " + printable(path));
  ::unlink(partial.c_str());
  // 127: some systems report a program that is missing only this way.
  if ((!status && reason == ENOENT) || (status && *status == 127))
    return error{error_kind::refused,
                 "A picture needs the program gnuplot, which isn't installed: install the package "
                 "gnuplot-nox, or leave out --png."};
  errno = reason;
  if (!status)
    return failed("Can't start gnuplot");
  return error{error_kind::refused, "gnuplot failed: " + complaint(errors.get())};
}

} // namespace paceline
