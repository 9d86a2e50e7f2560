/// docs/examples/nginx.conf as Debian's nginx understands it, in front of a real listener.
#include <boost/test/unit_test.hpp>

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "test/support/captured_log.hpp"
#include "test/support/run_program.hpp"
#include "test/support/waiting.hpp"
#include "transport/http/server.hpp"

namespace paceline::test {
namespace {

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Replaces every `from`, which must be there.
void replace_all(std::string& text, const std::string& from, const std::string& to) {
  auto at = text.find(from);
  BOOST_REQUIRE_MESSAGE(at != std::string::npos, "nginx.conf has no " << from);
  for (; at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// Two listeners of ours, as API and feedback; they answer name, path, body size and request id.
class listeners {
public:
  listeners() : api(start("api")), feedback(start("feedback")) {}

  int requests() const { return requests_.load(); }
  std::string last_id() const {
    std::lock_guard lock(mutex_);
    return last_id_;
  }

private:
  std::unique_ptr<http_server> start(const std::string& name) {
    listener_options options;
    options.name = name;
    options.address = "127.0.0.1:0";
    auto started =
        http_server::start(options, budget_, log_.log, [this, name](const http_request& request) {
          return answer(name, request);
        });
    BOOST_REQUIRE_MESSAGE(started, (started ? "" : started.failure().text));
    return std::move(*started);
  }

  http_response answer(const std::string& name, const http_request& request) {
    requests_.fetch_add(1);
    std::lock_guard lock(mutex_);
    last_id_ = request.id;
    return {200,
            "text/plain",
            name + " " + request.path + " " + std::to_string(request.body.size()),
            {}};
  }

  captured_log log_;
  body_budget budget_{64 << 20};
  std::atomic<int> requests_{0};
  mutable std::mutex mutex_;
  std::string last_id_;

public:
  const std::unique_ptr<http_server> api, feedback;
};

/// A port that was free a moment ago.
int free_port() {
  captured_log log;
  body_budget none(0);
  listener_options options;
  options.address = "127.0.0.1:0";
  auto started = http_server::start(options, none, log.log,
                                    [](const http_request&) -> http_response { return {}; });
  BOOST_REQUIRE(started);
  return (*started)->port();
}

/// nginx with a copy of the example in a folder of its own: other ports and paths, nothing else.
class proxy {
public:
  explicit proxy(const listeners& behind) : port_(free_port()), plain_port_(free_port()) {
    std::string pattern = std::filesystem::temp_directory_path() / "paceline-nginx-XXXXXX";
    if (!::mkdtemp(pattern.data()))
      throw std::runtime_error("mkdtemp");
    folder_ = pattern;
    std::filesystem::permissions(folder_, std::filesystem::perms{0755});
    std::filesystem::create_directory(folder_ / "temp");
    make_certificate();
    write_configuration(behind);
    start();
  }

  ~proxy() {
    ::kill(process_, SIGTERM);
    int status = 0;
    ::waitpid(process_, &status, 0);
    std::filesystem::remove_all(folder_);
  }

  /// What curl prints of `path` with `more` arguments; `STATUS` alone with `status_only`.
  std::string curl(const std::string& path, std::vector<std::string> more = {}) const {
    std::vector<std::string> all{"curl",       "--silent",
                                 "--max-time", "60",
                                 "--cacert",   folder_ / "certificate.pem",
                                 "--resolve",  "paceline.example.com:" + port() + ":127.0.0.1"};
    all.insert(all.end(), more.begin(), more.end());
    all.push_back("https://paceline.example.com:" + port() + path);
    return run_program(all).output;
  }
  std::string status(const std::string& path, std::vector<std::string> more = {}) const {
    more.insert(more.end(), {"--output", "/dev/null", "--write-out", "%{http_code}\\n"});
    return curl(path, std::move(more));
  }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  std::string port() const { return std::to_string(port_); }
  std::string plain_port() const { return std::to_string(plain_port_); }

private:
  void make_certificate() {
    auto made = run_program({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                             "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                             "/CN=paceline.example.com", "-addext",
                             "subjectAltName=DNS:paceline.example.com", "-keyout",
                             folder_ / "key.pem", "-out", folder_ / "certificate.pem"});
    BOOST_REQUIRE_MESSAGE(made.status == 0, made.errors);
  }

  void write_configuration(const listeners& behind) {
    auto text = text_of(PACELINE_SOURCE_DIR "/docs/examples/nginx.conf");
    replace_all(text, "127.0.0.1:8700;", "127.0.0.1:" + std::to_string(behind.api->port()) + ";");
    replace_all(text, "127.0.0.1:8702;",
                "127.0.0.1:" + std::to_string(behind.feedback->port()) + ";");
    replace_all(text, "listen 443 ", "listen 127.0.0.1:" + port() + " ");
    replace_all(text, "listen 80;", "listen 127.0.0.1:" + plain_port() + ";");
    replace_all(text, "/etc/ssl/paceline", folder_);
    replace_all(text, "/run/nginx.pid", folder_ / "nginx.pid");
    replace_all(text, "/var/log/nginx", folder_);
    replace_all(text, "/var/lib/nginx", folder_ / "temp");
    // Paths that are built in and that a whole installation has.
    std::string unused;
    for (std::string each : {"fastcgi", "uwsgi", "scgi"})
      unused += " " + each + "_temp_path " + std::string(folder_ / "temp" / each) + ";";
    replace_all(text, "\nhttp {", "\nhttp {" + unused);
    write("nginx.conf", text);
  }

  void start() {
    std::string program = "/usr/sbin/nginx", folder = folder_.string() + "/",
                file = folder_ / "nginx.conf", errors = folder_ / "error.log";
    std::vector<char*> arguments;
    std::string p = "-p", c = "-c", e = "-e", g = "-g", daemon = "daemon off;";
    for (auto* each : {&program, &p, &folder, &c, &file, &e, &errors, &g, &daemon})
      arguments.push_back(each->data());
    arguments.push_back(nullptr);
    BOOST_REQUIRE(
        ::posix_spawn(&process_, program.c_str(), nullptr, nullptr, arguments.data(), environ)
        == 0);
    bool is_up = eventually([this] { return status("/v1/up") == "200\n"; });
    BOOST_REQUIRE_MESSAGE(is_up, text_of(errors));
  }

  const int port_, plain_port_;
  std::filesystem::path folder_;
  pid_t process_ = 0;
};

/// curl in the background, killed when it is no longer wanted.
class slow_upload {
public:
  slow_upload(const proxy& to, const std::string& file) {
    std::vector<std::string> all{"/usr/bin/curl",
                                 "--silent",
                                 "--insecure",
                                 "--max-time",
                                 "60",
                                 "--limit-rate",
                                 "4k",
                                 "--output",
                                 "/dev/null",
                                 "--data-binary",
                                 "@" + file,
                                 "https://127.0.0.1:" + to.port() + "/v1/slow"};
    std::vector<char*> arguments;
    for (auto& each : all)
      arguments.push_back(each.data());
    arguments.push_back(nullptr);
    BOOST_REQUIRE(
        ::posix_spawn(&process_, all[0].c_str(), nullptr, nullptr, arguments.data(), environ) == 0);
  }
  ~slow_upload() {
    ::kill(process_, SIGKILL);
    int status = 0;
    ::waitpid(process_, &status, 0);
  }
  slow_upload(const slow_upload&) = delete;

private:
  pid_t process_ = 0;
};

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

} // namespace

BOOST_AUTO_TEST_SUITE(nginx_in_front)

BOOST_AUTO_TEST_CASE(tls_reaches_the_api_and_plain_text_does_not) {
  listeners behind;
  proxy front(behind);
  BOOST_TEST(front.curl("/v1/campaigns?limit=3") == "api /v1/campaigns 0");
  BOOST_TEST(front.curl("/v1/campaigns", {"--http1.1"}) == "api /v1/campaigns 0");
  BOOST_TEST(front.curl("/v1/events/ses", {"--data", "{}"}) == "feedback /v1/events/ses 2");
  auto before = behind.requests();
  auto plain =
      run_program({"curl", "--silent", "--output", "/dev/null", "--write-out", "%{http_code}",
                   "http://127.0.0.1:" + front.plain_port() + "/v1/campaigns"});
  BOOST_TEST(plain.output == "403");
  for (std::string path : {"/metrics", "/health", "/", "/admin", "/v1/../metrics", "/v2/x"})
    BOOST_TEST(front.status(path, {"--path-as-is"}) == "404\n", "for " << path);
  BOOST_TEST(behind.requests() == before);
}

BOOST_AUTO_TEST_CASE(a_sane_request_id_is_passed_on_and_any_other_replaced) {
  listeners behind;
  proxy front(behind);
  front.curl("/v1/x", {"-H", "X-Request-Id: client-1"});
  BOOST_TEST(behind.last_id() == "client-1");
  front.curl("/v1/x", {"-H", "X-Request-Id: not sane"});
  BOOST_TEST(behind.last_id().size() == 32u); // nginx's own
}

BOOST_AUTO_TEST_CASE(bodies_have_the_bound_that_we_have_and_larger_ones_never_reach_us) {
  listeners behind;
  proxy front(behind);
  auto most = listener_options{}.max_body;
  auto fits = front.write("fits", std::string(most, 'x'));
  auto large = front.write("large", std::string(most + 1, 'x'));
  BOOST_TEST(front.curl("/v1/x", {"--data-binary", "@" + fits})
             == "api /v1/x " + std::to_string(most));
  auto before = behind.requests();
  BOOST_TEST(front.status("/v1/x", {"--data-binary", "@" + large}) == "413\n");
  BOOST_TEST(front.status("/v1/x", {"--http1.1", "-H", "Transfer-Encoding: chunked",
                                    "--data-binary", "@" + large})
             == "413\n");
  BOOST_TEST(behind.requests() == before);
}

BOOST_AUTO_TEST_CASE(slow_clients_wait_in_nginx_and_a_normal_one_is_served_meanwhile) {
  listeners behind;
  proxy front(behind);
  auto file = front.write("slow", std::string(1 << 20, 'x'));
  std::vector<std::unique_ptr<slow_upload>> slow;
  constexpr int many = 30; // below the limit of one address
  for (int i = 0; i < many; ++i)
    slow.push_back(std::make_unique<slow_upload>(front, file));
  auto connections = [&front] {
    return count(
        run_program({"ss", "-Htn", "state", "established", "( sport = :" + front.port() + " )"})
            .output,
        "\n");
  };
  BOOST_TEST(eventually([&connections] { return connections() >= many; }));
  auto before = behind.requests();
  for (int i = 0; i < 20; ++i)
    BOOST_TEST(front.status("/v1/x") == "200\n");
  BOOST_TEST(behind.requests() == before + 20);
  BOOST_TEST(behind.api->counts().connections < many / 2);
}

BOOST_AUTO_TEST_CASE(one_address_is_limited_except_for_events_from_the_provider) {
  listeners behind;
  proxy front(behind);
  auto events = front.status("/v1/events/ses?[1-400]", {"--data", "{}"});
  BOOST_TEST(count(events, "200\n") == 400u);
  auto api = front.status("/v1/x?[1-400]");
  BOOST_TEST(count(api, "429\n") > 0u);
  BOOST_TEST(count(api, "200\n") >= 100u);
  BOOST_TEST(count(api, "200\n") + count(api, "429\n") == 400u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace paceline::test
