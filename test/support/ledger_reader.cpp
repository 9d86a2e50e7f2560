#include "test/support/ledger_reader.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <rapidjson/document.h>

namespace paceline::test {
namespace {

ledger_line parse(const std::string& text) {
  rapidjson::Document json;
  json.Parse(text.c_str());
  if (json.HasParseError() || !json.IsObject())
    throw std::runtime_error("not a line of a ledger: " + text);
  ledger_line line;
  line.message = json["message"].GetInt64();
  // A stand-in knows when a call arrived, not when it started.
  line.started_ns = json[json.HasMember("started_ns") ? "started_ns" : "received_ns"].GetInt64();
  line.version = json["version"].GetInt();
  line.recipients = json["recipients"].GetInt();
  line.unanswered = json.HasMember("unanswered") && json["unanswered"].GetBool();
  if (json.HasMember("node"))
    line.node = json["node"].GetString();
  if (json.HasMember("sha256"))
    line.sha256 = json["sha256"].GetString();
  return line;
}

} // namespace

std::vector<ledger_line> read_ledger(const std::string& file) {
  std::ifstream input(file, std::ios::binary);
  std::vector<ledger_line> lines;
  for (std::string text; std::getline(input, text);)
    lines.push_back(parse(text));
  return lines;
}

std::size_t count_ledger_lines(const std::string& file) {
  std::ifstream input(file, std::ios::binary);
  return static_cast<std::size_t>(
      std::count(std::istreambuf_iterator<char>(input), std::istreambuf_iterator<char>(), '\n'));
}

std::vector<std::int64_t> twice(const std::vector<ledger_line>& lines) {
  std::set<std::int64_t> seen;
  std::vector<std::int64_t> again;
  for (const auto& line : lines)
    if (!seen.insert(line.message).second)
      again.push_back(line.message);
  return again;
}

std::int64_t most_within(const std::vector<ledger_line>& lines, std::chrono::nanoseconds window) {
  auto sorted = lines;
  std::sort(sorted.begin(), sorted.end(),
            [](const ledger_line& a, const ledger_line& b) { return a.started_ns < b.started_ns; });
  std::int64_t most = 0, within = 0;
  auto oldest = sorted.begin();
  for (const auto& line : sorted) {
    within += line.recipients;
    for (; line.started_ns - oldest->started_ns >= window.count(); ++oldest)
      within -= oldest->recipients;
    most = std::max(most, within);
  }
  return most;
}

double excess(const std::vector<ledger_line>& lines, double target,
              std::chrono::nanoseconds clock_error) {
  const double error = std::chrono::duration<double>(clock_error).count();
  const auto worst = static_cast<double>(most_within(lines, std::chrono::seconds{1}));
  return worst - ((1.005 + 2 * error) * target + 2);
}

std::vector<ledger_line> only(const std::vector<ledger_line>& lines,
                              const std::set<std::int64_t>& which) {
  std::vector<ledger_line> some;
  std::copy_if(lines.begin(), lines.end(), std::back_inserter(some),
               [&which](const ledger_line& line) { return which.contains(line.message); });
  return some;
}

} // namespace paceline::test
