#include "test/support/private_postgres.hpp"

#include "test/support/run_program.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <sys/stat.h>
#include <system_error>
#include <utility>

namespace paceline::test {
namespace {

/// The checkout, so that test programs can be run from anywhere.
constexpr std::string_view script = PACELINE_SOURCE_DIR "/tools/private_postgres";

std::string make_folder() {
  char path[] = "/tmp/paceline-test-XXXXXX";
  if (::mkdtemp(path) == nullptr)
    throw std::system_error(errno, std::generic_category(), path);
  // Run by root, the server is another user's process and must be able to enter.
  ::chmod(path, 0755);
  return path;
}

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  const auto before = text.rfind('\n');
  return before == std::string::npos ? text : text.substr(before + 1);
}

} // namespace

private_postgres::private_postgres(std::vector<std::string> settings) : folder_(make_folder()) {
  std::vector<std::string> arguments{"start"};
  for (auto& setting : settings) {
    arguments.push_back("--set");
    arguments.push_back(std::move(setting));
  }
  try {
    dsn_ = last_line(run(std::move(arguments)));
  } catch (...) {
    run_program({std::string(script), "remove", folder_});
    throw;
  }
}

private_postgres::~private_postgres() {
  try {
    run({"remove"});
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
  }
}

std::string private_postgres::create_database(std::string_view name) {
  const auto database = std::string(name) + "_" + std::to_string(++databases_);
  run({"psql", "--quiet", "--command", "CREATE DATABASE " + database});
  const std::string own = "dbname=paceline";
  auto dsn = dsn_;
  dsn.replace(dsn.rfind(own), own.size(), "dbname=" + database);
  return dsn;
}

void private_postgres::restart() {
  stop();
  start();
}

void private_postgres::stop(bool immediate) {
  run({"stop", "--mode", immediate ? "immediate" : "fast"});
}

void private_postgres::start() {
  const auto dsn = last_line(run({"start"}));
  if (dsn != dsn_)
    throw std::runtime_error("the cluster's port was taken meanwhile: " + dsn);
}

std::string private_postgres::run(std::vector<std::string> arguments) const {
  const auto command = arguments.front();
  arguments.insert(arguments.begin(), std::string(script));
  arguments.insert(arguments.begin() + 2, folder_);
  const auto end = run_program(arguments);
  if (end.status != 0)
    throw std::runtime_error("private_postgres " + command + " " + folder_ + ": exit status "
                             + std::to_string(end.status) + "\n" + end.errors + log_tail());
  return end.output;
}

std::string private_postgres::log_tail() const {
  std::ifstream log(folder_ + "/log");
  std::string text{std::istreambuf_iterator<char>(log), {}};
  const std::size_t longest = 2000;
  return text.size() <= longest ? text : text.substr(text.size() - longest);
}

} // namespace paceline::test
