#include "tools/benchmarks/ses_stand_in.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <httplib.h>
#include <rapidjson/document.h>

#include "tools/benchmarks/ledger_file.hpp"

namespace paceline::bench {
namespace {

/// The stand-in lies beside the bench in the build folder.
std::string program() {
  const auto self = std::filesystem::read_symlink("/proc/self/exe");
  return (self.parent_path().parent_path() / "simulators" / "paceline-simulators").string();
}

std::vector<std::string> command(const std::string& files, const stand_in_settings& settings) {
  return {program(),      "ses",
          "--ca",         files + ".ca.pem",
          "--ledger",     files + ".ses-ledger",
          "--rate",       std::to_string(settings.rate),
          "--tolerance",  std::to_string(settings.tolerance),
          "--latency-ms", std::to_string(settings.latency_ms),
          "--jitter",     std::to_string(settings.jitter)};
}

} // namespace

ses_stand_in::ses_stand_in(stage& with, const std::string& folder, const std::string& name,
                           const stand_in_settings& settings)
    : files_(folder + "/" + name), process_(command(files_, settings), files_ + ".ses-log") {
  ::setenv("AWS_ACCESS_KEY_ID", access_key().c_str(), 1);
  ::setenv("AWS_SECRET_ACCESS_KEY", secret_key().c_str(), 1);
  ::unsetenv("AWS_SESSION_TOKEN");
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds{10};
  rapidjson::Document said;
  do {
    if (!process_.is_running() || std::chrono::steady_clock::now() > limit)
      throw std::runtime_error("the SES stand-in does not start\n" + tail_of(files_ + ".ses-log"));
    with.sleep(std::chrono::milliseconds{20});
    const auto line = tail_of(files_ + ".ses-log");
    said.Parse(line.c_str());
  } while (said.HasParseError() || !said.IsObject() || !said.HasMember("control"));
  control_ = said["control"].GetInt();
  place_ = {"https://localhost:" + std::to_string(said["port"].GetInt()), files_ + ".ca.pem"};
}

void ses_stand_in::control(const std::string& json) const {
  httplib::Client client("127.0.0.1", control_);
  const auto answer = client.Post("/control", json, "application/json");
  if (!answer || answer->status != 200)
    throw std::runtime_error("the SES stand-in refuses " + json + ": "
                             + (answer ? answer->body : std::string{"no answer"}));
}

std::string ses_stand_in::state() const {
  httplib::Client client("127.0.0.1", control_);
  const auto answer = client.Get("/control");
  if (!answer || answer->status != 200)
    throw std::runtime_error("the SES stand-in does not answer");
  return answer->body;
}

std::int64_t ses_stand_in::counter(const std::string& name) const {
  rapidjson::Document now;
  now.Parse(state().c_str());
  const auto& counters = now["counters"];
  const auto found = counters.FindMember(name.c_str());
  return found == counters.MemberEnd() ? 0 : found->value.GetInt64();
}

double ses_stand_in::cpu_seconds() const {
  rapidjson::Document now;
  now.Parse(state().c_str());
  return static_cast<double>(now["cpu_us"].GetInt64()) / 1e6;
}

std::vector<started_call> ses_stand_in::ledger() const {
  return read_ledger(files_ + ".ses-ledger");
}

} // namespace paceline::bench
