#include "test/support/served_node.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace paceline::test {
namespace {

/// In the child: only what may be called between fork and exec.
[[noreturn]] void become(char* const* argv, int null_file, int log) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(null_file, STDIN_FILENO);
  ::dup2(null_file, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  ::execv(argv[0], argv);
  ::_exit(127);
}

std::string tail(const std::string& text) {
  constexpr std::size_t longest = 3000;
  return text.size() <= longest ? text : text.substr(text.size() - longest);
}

} // namespace

served_node::served_node(std::vector<std::string> arguments, std::string log)
    : log_file_(std::move(log)) {
  std::vector<char*> argv;
  for (auto& argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  const int null_file = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  const int file = ::open(log_file_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (null_file < 0 || file < 0)
    throw std::system_error(errno, std::generic_category(), log_file_);
  process_ = ::fork();
  if (process_ == 0)
    become(argv.data(), null_file, file);
  ::close(null_file);
  ::close(file);
  if (process_ < 0)
    throw std::system_error(errno, std::generic_category(), "fork");
}

served_node::~served_node() {
  try {
    if (is_running())
      kill();
  } catch (const std::exception&) { // the kernel will see to it
  }
}

bool served_node::is_running() {
  int status = 0;
  if (status_ || ::waitpid(process_, &status, WNOHANG) != process_)
    return !status_;
  status_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return false;
}

void served_node::signal(int number) const {
  if (status_ || ::kill(process_, number) != 0)
    throw std::runtime_error("the node is gone\n" + tail(log()));
}

int served_node::wait_for_end(std::chrono::milliseconds patience) {
  if (!eventually([this] { return !is_running(); }, patience))
    throw std::runtime_error("the node does not end\n" + tail(log()));
  return *status_;
}

void served_node::kill() {
  signal(SIGKILL);
  wait_for_end();
}

int served_node::terminate() {
  signal(SIGTERM);
  return wait_for_end();
}

void served_node::wait_until(const std::string& what, const std::function<bool()>& holds,
                             std::chrono::milliseconds patience) {
  bool held = false;
  const bool ended =
      eventually([this, &held, &holds] { return (held = holds()) || !is_running(); }, patience);
  if (!held)
    throw std::runtime_error((ended ? "the node ended while waiting until " : "in vain until ")
                             + what + "\n" + tail(log()));
}

void served_node::wait_until_serving() {
  wait_until("it serves", [this] { return logged("\"message\":\"serving\"") > 0; });
}

int served_node::port_of(const std::string& listener) const {
  const auto all = log();
  const auto mark = "\"" + listener + "\":\"127.0.0.1:";
  const auto at = all.rfind(mark);
  if (at == std::string::npos)
    throw std::runtime_error("the node does not say where its " + listener + " listens\n"
                             + tail(all));
  return std::stoi(all.substr(at + mark.size()));
}

std::string served_node::log() const {
  std::ifstream file(log_file_, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

int served_node::logged(std::string_view text) const {
  const auto all = log();
  int times = 0;
  for (auto at = all.find(text); at != std::string::npos; at = all.find(text, at + 1))
    ++times;
  return times;
}

} // namespace paceline::test
