#include "test/support/simulator.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

#include <httplib.h>
#include <rapidjson/document.h>

namespace paceline::test {
namespace {

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string make_folder() {
  auto name = (std::filesystem::temp_directory_path() / "paceline-simulator-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    throw std::system_error(errno, std::generic_category(), name);
  return name;
}

/// In the child: only what may be called between fork and exec.
[[noreturn]] void become(char* const* argv, int null_file, int output, int errors) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(null_file, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  ::execv(argv[0], argv);
  ::_exit(127);
}

/// Until the first line end; what has come by then where the other side closes.
std::string first_line(int from) {
  std::string line;
  for (char one = 0; line.size() < 1000 && ::read(from, &one, 1) == 1 && one != '\n';)
    line.push_back(one);
  return line;
}

} // namespace

simulator::simulator(const std::string& kind, const std::vector<std::string>& options)
    : kind_(kind), folder_(make_folder()) {
  std::vector<std::string> arguments{
      PACELINE_SIMULATORS, kind,          "--ca",   ca_file(),
      "--ledger",          ledger_file(), "--keep", folder_ + "/kept"};
  arguments.insert(arguments.end(), {"--latency-ms", "5"});
  arguments.insert(arguments.end(), options.begin(), options.end());
  start(std::move(arguments));
}

simulator::~simulator() {
  try {
    stop();
    std::filesystem::remove_all(folder_);
  } catch (const std::exception&) { // the system's cleaning of temporary files will see to it
  }
}

void simulator::start(std::vector<std::string> arguments) {
  std::vector<char*> argv;
  for (auto& argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  int pipe[2] = {-1, -1};
  const int null_file = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  const int errors =
      ::open((folder_ + "/errors").c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (null_file < 0 || errors < 0 || ::pipe2(pipe, O_CLOEXEC) != 0)
    throw std::system_error(errno, std::generic_category(), folder_);
  process_ = ::fork();
  if (process_ == 0)
    become(argv.data(), null_file, pipe[1], errors);
  for (const int open : {null_file, errors, pipe[1]})
    ::close(open);
  const auto line = first_line(pipe[0]);
  ::close(pipe[0]);
  rapidjson::Document said;
  said.Parse(line.c_str());
  if (said.HasParseError() || !said.IsObject() || !said.HasMember("port")) {
    stop();
    throw std::runtime_error("the simulator did not start: " + line + this->errors());
  }
  port_ = said["port"].GetInt();
  control_ = said["control"].GetInt();
}

void simulator::stop() {
  if (process_ <= 0)
    return;
  ::kill(process_, SIGTERM);
  int ignored = 0;
  while (::waitpid(process_, &ignored, 0) < 0 && errno == EINTR)
    continue;
  process_ = 0;
}

std::string simulator::endpoint() const {
  return (kind_ == "smtp" ? "smtp://localhost:" : "https://localhost:") + std::to_string(port_);
}

std::string simulator::errors() const {
  return content_of(folder_ + "/errors");
}

std::string simulator::kept(std::int64_t message, int version) const {
  return content_of(folder_ + "/kept/" + std::to_string(message) + "-" + std::to_string(version)
                    + ".eml");
}

std::string simulator::ask_control(const std::string& method, const std::string& json) const {
  httplib::Client client("127.0.0.1", control_);
  const auto answer =
      method == "POST" ? client.Post("/control", json, "application/json") : client.Get("/control");
  if (!answer || answer->status != 200)
    throw std::runtime_error("the simulator's control answered "
                             + (answer ? answer->body : std::string{"nothing"}) + errors());
  return answer->body;
}

std::string simulator::control(const std::string& json) const {
  return ask_control("POST", json);
}

std::int64_t simulator::counted(const std::string& counter) const {
  rapidjson::Document state;
  state.Parse(ask_control("GET", "").c_str());
  const auto& counters = state["counters"];
  const auto found = counters.FindMember(counter.c_str());
  return found == counters.MemberEnd() ? 0 : found->value.GetInt64();
}

} // namespace paceline::test
