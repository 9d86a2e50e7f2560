#include "tools/benchmarks/ledger_file.hpp"

#include <fstream>
#include <stdexcept>

#include <rapidjson/document.h>

namespace paceline::bench {
namespace {

started_call call_of(const std::string& line, const std::string& path, std::size_t number) {
  rapidjson::Document entry;
  entry.Parse(line.c_str(), line.size());
  const auto has = [&entry](const char* name) {
    return entry.HasMember(name) && entry[name].IsInt64();
  };
  if (entry.HasParseError() || !entry.IsObject() || !has("message")
      || (!has("started_ns") && !has("received_ns")) || !has("recipients") || !has("version"))
    throw std::runtime_error(path + ": line " + std::to_string(number) + " is no ledger entry");
  // A stand-in knows when a call arrived, not when it started.
  const char* const instant = has("started_ns") ? "started_ns" : "received_ns";
  return {entry["message"].GetInt64(), entry[instant].GetInt64(),
          static_cast<std::int32_t>(entry["recipients"].GetInt64()),
          static_cast<std::int32_t>(entry["version"].GetInt64())};
}

} // namespace

std::vector<started_call> read_ledger(const std::string& path) {
  std::vector<started_call> calls;
  std::ifstream file(path);
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number)
    calls.push_back(call_of(line, path, number));
  return calls;
}

} // namespace paceline::bench
