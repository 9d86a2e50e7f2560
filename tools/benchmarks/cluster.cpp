#include "tools/benchmarks/cluster.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string_view>
#include <sys/stat.h>
#include <system_error>

#include "tools/benchmarks/child_process.hpp"
#include "tools/benchmarks/database.hpp"

namespace paceline::bench {
namespace {

constexpr std::string_view script = PACELINE_SOURCE_DIR "/tools/private_postgres";

std::string make_folder() {
  const char* base = std::getenv("TMPDIR");
  auto path =
      std::string{base != nullptr && *base != '\0' ? base : "/tmp"} + "/paceline-bench-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr)
    throw std::system_error(errno, std::generic_category(), path);
  // Run by root, the server is another user's process and must be able to enter.
  ::chmod(path.c_str(), 0755);
  return path;
}

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  const auto before = text.rfind('\n');
  return before == std::string::npos ? text : text.substr(before + 1);
}

} // namespace

cluster::cluster(const std::vector<std::string>& settings) : folder_(make_folder()) {
  std::vector<std::string> arguments{"start"};
  for (const auto& setting : settings) {
    arguments.push_back("--set");
    arguments.push_back(setting);
  }
  try {
    dsn_ = last_line(run(std::move(arguments)));
  } catch (...) {
    remove();
    throw;
  }
}

cluster::~cluster() {
  remove();
}

void cluster::remove() noexcept {
  try {
    run({"remove"});
    std::filesystem::remove_all(folder_);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "bench: %s\n", failure.what());
  }
}

std::string cluster::create_database() {
  const auto name = "bench_" + std::to_string(++databases_);
  database(dsn_).run("CREATE DATABASE " + name);
  const std::string own = "dbname=paceline";
  auto dsn = dsn_;
  dsn.replace(dsn.rfind(own), own.size(), "dbname=" + name);
  return dsn;
}

void cluster::settle() {
  database(dsn_).run("CHECKPOINT");
}

std::string cluster::version() {
  return database(dsn_).run("SHOW server_version").text(0, 0);
}

std::string cluster::run(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), std::string(script));
  arguments.insert(arguments.begin() + 2, folder_ + "/postgres");
  return run_to_end(arguments, folder_ + "/private_postgres.errors");
}

} // namespace paceline::bench
