#include "tools/benchmarks/child_process.hpp"

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

namespace paceline::bench {
namespace {

[[noreturn]] void become(std::vector<char*>& argv, int output, int errors) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t none;
  ::sigemptyset(&none); // we block signals to wait for them; the program must not
  ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  // A Ctrl-C at the terminal is ours to handle; children are told by us.
  ::setpgid(0, 0);
  ::execvp(argv[0], argv.data());
  ::_exit(127);
}

pid_t start(const std::vector<std::string>& arguments, int output, int errors) {
  std::vector<char*> argv;
  for (const auto& argument : arguments)
    argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const pid_t process = ::fork();
  if (process < 0)
    throw std::system_error(errno, std::generic_category(), arguments.front());
  if (process == 0)
    become(argv, output, errors);
  return process;
}

int status_of(int waited) {
  return WIFSIGNALED(waited) ? 128 + WTERMSIG(waited) : WEXITSTATUS(waited);
}

int wait_for(pid_t process) {
  int waited = 0;
  while (::waitpid(process, &waited, 0) < 0)
    if (errno != EINTR)
      throw std::system_error(errno, std::generic_category(), "waitpid");
  return status_of(waited);
}

class open_file {
public:
  open_file(const std::string& path, int flags) : descriptor_(::open(path.c_str(), flags, 0644)) {
    if (descriptor_ < 0)
      throw std::system_error(errno, std::generic_category(), path);
  }
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;
  ~open_file() { ::close(descriptor_); }
  int descriptor() const { return descriptor_; }

private:
  int descriptor_;
};

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace

child_process::child_process(const std::vector<std::string>& arguments, const std::string& log) {
  const open_file file(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC);
  id_ = start(arguments, file.descriptor(), file.descriptor());
}

child_process::~child_process() {
  if (!is_running())
    return;
  ::kill(id_, SIGKILL);
  int ignored = 0;
  while (::waitpid(id_, &ignored, 0) < 0 && errno == EINTR)
    continue;
}

bool child_process::is_running() {
  int waited = 0;
  if (status_ < 0 && ::waitpid(id_, &waited, WNOHANG) == id_)
    status_ = status_of(waited);
  return status_ < 0;
}

int child_process::stop() {
  if (is_running()) {
    ::kill(id_, SIGTERM);
    status_ = wait_for(id_);
  }
  return status_;
}

std::string run_to_end(const std::vector<std::string>& arguments, const std::string& error_file) {
  const auto output_file = error_file + ".output";
  const int fresh = O_WRONLY | O_TRUNC | O_CREAT | O_CLOEXEC;
  int status = 0;
  {
    const open_file output(output_file, fresh), errors(error_file, fresh);
    status = wait_for(start(arguments, output.descriptor(), errors.descriptor()));
  }
  auto text = content_of(output_file);
  ::unlink(output_file.c_str());
  if (status == 0)
    return text;
  std::string line;
  for (const auto& argument : arguments)
    line += argument + " ";
  throw std::runtime_error(line + "ended with exit status " + std::to_string(status) + "\n"
                           + tail_of(error_file));
}

std::string tail_of(const std::string& path) {
  const auto text = content_of(path);
  const std::size_t longest = 2000;
  return text.size() <= longest ? text : text.substr(text.size() - longest);
}

} // namespace paceline::bench
