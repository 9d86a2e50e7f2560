#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "test/support/run_program.hpp"
#include "test/support/waiting.hpp"
#include "test/unit/http_support.hpp"

using namespace paceline;
using namespace paceline::http_test;
using paceline::test::eventually;
using paceline::test::run_program;

namespace {

/// A folder with two self-signed certificates and their keys.
class certificates {
public:
  certificates() {
    std::string pattern = std::filesystem::temp_directory_path() / "paceline-tls-XXXXXX";
    BOOST_REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    folder_ = pattern;
    make("first");
    make("second");
  }
  ~certificates() { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name) const { return folder_ / name; }

  auto options(const std::string& name = "first") const {
    return [certificate = file(name + ".crt"), key = file(name + ".key")](listener_options& to) {
      to.tls_certificate = certificate;
      to.tls_key = key;
    };
  }

private:
  void make(const std::string& name) {
    auto made = run_program({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                             "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                             "/CN=" + name, "-addext", "subjectAltName=DNS:localhost", "-keyout",
                             file(name + ".key"), "-out", file(name + ".crt")});
    BOOST_REQUIRE_MESSAGE(made.status == 0, made.errors);
  }

  std::filesystem::path folder_;
};

/// What curl prints, or its exit status where it fails.
std::string curl(const served& node, const std::string& trusted,
                 const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{
      "curl",       "--silent",
      "--max-time", "30",
      "--cacert",   trusted,
      "--resolve",  "localhost:" + std::to_string(node.port()) + ":127.0.0.1"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  arguments.push_back("https://localhost:" + std::to_string(node.port()) + "/over-tls");
  auto end = run_program(arguments);
  return end.status == 0 ? end.output : "curl ended with " + std::to_string(end.status);
}

} // namespace

BOOST_AUTO_TEST_SUITE(http_tls)

BOOST_AUTO_TEST_CASE(requests_and_large_bodies_go_through_tls_both_ways) {
  certificates files;
  served node(files.options(), [](const http_request& request) {
    return http_response{200, "text/plain", request.method + request.body, {}};
  });
  BOOST_TEST(curl(node, files.file("first.crt")) == "GET");
  std::ofstream(files.file("large")) << std::string(3 << 20, 'x');
  auto echoed = curl(node, files.file("first.crt"),
                     {"--data-binary", "@" + files.file("large"), "-H", "Expect: 100-continue"});
  BOOST_TEST((echoed == "POST" + std::string(3 << 20, 'x')));
}

BOOST_AUTO_TEST_CASE(versions_before_tls_1_2_and_plain_text_are_refused) {
  certificates files;
  served node(files.options());
  auto trusted = files.file("first.crt");
  BOOST_TEST(curl(node, trusted, {"--tls-max", "1.2"}) == "GET /over-tls 0");
  BOOST_TEST(curl(node, trusted, {"--tlsv1.3"}) == "GET /over-tls 0");
  BOOST_TEST(
      curl(node, trusted, {"--tls-max", "1.1", "--tlsv1.0", "--ciphers", "DEFAULT@SECLEVEL=0"})
          .starts_with("curl ended with"));
  raw_client plain(node.port());
  plain.send(get("/"));
  BOOST_TEST(plain.sees_end());
  BOOST_TEST(curl(node, trusted) == "GET /over-tls 0");
}

BOOST_AUTO_TEST_CASE(who_connects_and_says_nothing_holds_no_thread_and_is_cut) {
  certificates files;
  served node([&files](listener_options& options) {
    files.options()(options);
    options.threads = 1;
    options.header_timeout = 1s;
  });
  std::vector<raw_client> silent;
  for (int i = 0; i < 50; ++i)
    silent.emplace_back(node.port()).send("\x16\x03");
  BOOST_TEST(curl(node, files.file("first.crt")) == "GET /over-tls 0");
  for (auto& each : silent)
    BOOST_TEST(each.sees_end());
  BOOST_TEST(node.server->counts().timed_out == 50);
}

BOOST_AUTO_TEST_CASE(a_new_certificate_is_taken_over_and_a_bad_one_is_not) {
  certificates files;
  served node(files.options());
  auto replace = [&files](const char* kind, const std::string& with) {
    std::filesystem::copy_file(files.file(with + kind), files.file(std::string("first") + kind),
                               std::filesystem::copy_options::overwrite_existing);
  };
  auto old = files.file("old.crt");
  std::filesystem::copy_file(files.file("first.crt"), old);
  replace(".crt", "second");
  auto mismatched = node.server->reload_tls();
  BOOST_REQUIRE(!mismatched);
  BOOST_TEST(mismatched.failure().text.find(files.file("first.key")) != std::string::npos);
  BOOST_TEST(curl(node, old) == "GET /over-tls 0");
  replace(".key", "second");
  BOOST_REQUIRE(node.server->reload_tls());
  BOOST_TEST(curl(node, files.file("second.crt")) == "GET /over-tls 0");
  BOOST_TEST(curl(node, old).starts_with("curl ended with"));
}

BOOST_AUTO_TEST_CASE(files_that_can_not_be_used_are_named) {
  certificates files;
  std::ofstream(files.file("garbage")) << "no certificate";
  auto why = [&files](const std::string& certificate, const std::string& key) {
    test::captured_log log;
    body_budget budget(1);
    listener_options options;
    options.address = "127.0.0.1:0";
    options.tls_certificate = certificate.empty() ? "" : files.file(certificate);
    options.tls_key = key.empty() ? "" : files.file(key);
    auto started = http_server::start(options, budget, log.log, describe);
    return started ? "started" : started.failure().text;
  };
  auto names = [&files](const std::string& text, const std::string& file) {
    return text.find(files.file(file) + ": ") != std::string::npos;
  };
  BOOST_TEST(why("absent.crt", "first.key")
             == "TLS certificate " + files.file("absent.crt") + ": No such file or directory");
  BOOST_TEST(names(why("garbage", "first.key"), "garbage"));
  BOOST_TEST(names(why("first.crt", "absent.key"), "absent.key"));
  BOOST_TEST(names(why("first.crt", "garbage"), "garbage"));
  auto mismatch = why("first.crt", "second.key");
  BOOST_TEST(mismatch.find(files.file("second.key")) != std::string::npos, mismatch);
  BOOST_TEST(why("first.crt", "").find("needs both") != std::string::npos);
  BOOST_TEST(why("first.crt", "first.key") == "started");
}

BOOST_AUTO_TEST_CASE(stopping_is_not_held_up_by_handshakes) {
  certificates files;
  served node(files.options());
  raw_client silent(node.port());
  BOOST_TEST(eventually([&node] { return node.server->counts().connections == 1; }));
  node.server->stop();
  BOOST_TEST(silent.sees_end());
}

BOOST_AUTO_TEST_SUITE_END()
