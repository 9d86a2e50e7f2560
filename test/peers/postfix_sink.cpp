#include "test/peers/postfix_sink.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <pwd.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "test/support/run_program.hpp"

extern char** environ;

namespace paceline::test {
namespace {

const std::filesystem::path control = "/usr/sbin/postfix";
const std::filesystem::path daemon = "/usr/lib/postfix/sbin/master";

/// Free now; Postfix can't choose one itself.
int free_port() {
  const int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  const bool found = ::bind(probe, generic, size) == 0 && ::getsockname(probe, generic, &size) == 0;
  ::close(probe);
  if (!found)
    throw std::runtime_error("no free port");
  return ntohs(address.sin_port);
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream from{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{from}, {}};
}

constexpr std::string_view services = R"(tlsmgr unix - - n 1000? 1 tlsmgr
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
proxymap unix - - n - - proxymap
error unix - - n - - error
retry unix - - n - - error
virtual unix - n n - - virtual
anvil unix - - n - 1 anvil
postlog unix-dgram n - n - 1 postlogd
)";

} // namespace

std::string postfix_sink::obstacle() {
  if (!std::filesystem::exists(control) || !std::filesystem::exists(daemon))
    return "Postfix is not installed (tools/setup --test does that)";
  if (::geteuid() != 0)
    return "Postfix can be started by root only";
  return {};
}

postfix_sink::postfix_sink(const std::string& certificate_file, const std::string& key_file)
    : port_(free_port()) {
  std::string name = "/tmp/paceline-postfix-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr)
    throw std::runtime_error("no temporary folder");
  folder_ = name;
  ::chmod(folder_.c_str(), 0755); // its processes run as another user
  configure(certificate_file, key_file);
  const auto checked = run_program({control, "-c", folder_ / "conf", "check"});
  const std::string program = daemon, where = folder_ / "conf";
  std::string words[] = {program, "-c", where, "-d"};
  char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), nullptr};
  posix_spawnattr_t ways;
  ::posix_spawnattr_init(&ways);
  ::posix_spawnattr_setflags(&ways, POSIX_SPAWN_SETSID);
  const int failed = ::posix_spawn(&master_, program.c_str(), nullptr, &ways, arguments, environ);
  ::posix_spawnattr_destroy(&ways);
  if (checked.status != 0 || failed != 0)
    throw std::runtime_error("Postfix does not start: " + checked.errors + log());
}

postfix_sink::~postfix_sink() {
  if (master_ > 0) {
    ::kill(-master_, SIGTERM); // the whole session that was made for it
    ::waitpid(master_, nullptr, 0);
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void postfix_sink::configure(const std::string& certificate_file,
                             const std::string& key_file) const {
  const auto* owner = ::getpwnam("postfix");
  if (owner == nullptr)
    throw std::runtime_error("there is no user postfix");
  for (const char* each : {"conf", "queue", "data", "mail"})
    std::filesystem::create_directory(folder_ / each);
  for (const char* each : {"data", "mail"})
    if (::chown((folder_ / each).c_str(), owner->pw_uid, owner->pw_gid) != 0)
      throw std::runtime_error("chown failed");
  const auto uid = std::to_string(owner->pw_uid), gid = std::to_string(owner->pw_gid);
  const auto at = folder_.string();
  std::ofstream{folder_ / "conf/main.cf"}
      << "compatibility_level = 3.6\n"
      << "queue_directory = " << at << "/queue\ndata_directory = " << at << "/data\n"
      << "maillog_file = " << at << "/log\nmaillog_file_prefixes = " << at << '\n'
      << "myhostname = sink.paceline.example\nmydestination =\nalias_maps =\nbiff = no\n"
      << "inet_interfaces = 127.0.0.1\ninet_protocols = ipv4\nmynetworks = 127.0.0.0/8\n"
      << "default_transport = error:nothing leaves this machine\n"
      << "relay_transport = error:nothing leaves this machine\n"
      << "virtual_mailbox_domains = example.com\nvirtual_mailbox_base = " << at << "/mail\n"
      << "virtual_mailbox_maps = static:box/\n"
      << "virtual_minimum_uid = 1\nvirtual_uid_maps = static:" << uid
      << "\nvirtual_gid_maps = static:" << gid << '\n'
      << "smtpd_tls_security_level = encrypt\nsmtpd_tls_cert_file = " << certificate_file
      << "\nsmtpd_tls_key_file = " << key_file << '\n'
      << "smtpd_recipient_restrictions = check_recipient_access inline:{ "
      << "{ nobody@example.com = 550 5.1.1 nobody of that name }, "
      << "{ later@example.com = 450 4.2.1 mailbox busy } }, permit_mynetworks, reject\n";
  std::ofstream{folder_ / "conf/master.cf"} << "127.0.0.1:" << port_ << " inet n - n - - smtpd\n"
                                            << services;
}

std::vector<std::string> postfix_sink::delivered() const {
  std::vector<std::string> messages;
  const auto box = folder_ / "mail/box/new";
  std::error_code absent;
  for (const auto& each : std::filesystem::directory_iterator{box, absent})
    messages.push_back(text_of(each.path()));
  return messages;
}

std::string postfix_sink::log() const {
  return text_of(folder_ / "log");
}

} // namespace paceline::test
