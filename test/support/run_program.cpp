#include "test/support/run_program.hpp"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace paceline::test {
namespace {

/// Output goes to an unlinked file and not to a pipe: a server that the program leaves behind
/// would keep a pipe open, and a full one would block.
class unnamed_file {
public:
  unnamed_file() {
    char path[] = "/tmp/paceline-output-XXXXXX";
    descriptor_ = ::mkostemp(path, O_CLOEXEC);
    if (descriptor_ < 0)
      throw std::system_error(errno, std::generic_category(), path);
    ::unlink(path);
  }
  unnamed_file(const unnamed_file&) = delete;
  unnamed_file& operator=(const unnamed_file&) = delete;
  ~unnamed_file() { ::close(descriptor_); }

  int descriptor() const { return descriptor_; }

  std::string text() const {
    std::string all;
    char block[4096];
    ssize_t got = 0;
    while ((got = ::pread(descriptor_, block, sizeof block, static_cast<off_t>(all.size()))) > 0)
      all.append(block, static_cast<std::size_t>(got));
    return all;
  }

private:
  int descriptor_ = -1;
};

int wait_for(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0)
    if (errno != EINTR)
      throw std::system_error(errno, std::generic_category(), "waitpid");
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

} // namespace

program_end run_program(const std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  for (const auto& argument : arguments)
    argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  unnamed_file output;
  unnamed_file errors;
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, output.descriptor(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, errors.descriptor(), STDERR_FILENO);
  pid_t process = 0;
  const int failure = ::posix_spawnp(&process, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failure != 0)
    throw std::system_error(failure, std::generic_category(), arguments.front());

  program_end end;
  end.status = wait_for(process);
  end.output = output.text();
  end.errors = errors.text();
  return end;
}

} // namespace paceline::test
