/// Reads an exposition back.
#pragma once

#include <map>
#include <sstream>
#include <string>
#include <string_view>

namespace paceline::test {

/// The series of a name, by their labels as they stand there (`{kind="a"}`; empty without labels).
inline std::map<std::string, double> series_of(const std::string& exposition,
                                               std::string_view name) {
  std::map<std::string, double> series;
  std::istringstream lines{exposition};
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(name))
      continue;
    auto rest = line.substr(name.size());
    auto space = rest.rfind(' ');
    if (rest.front() != '{' && rest.front() != ' ')
      continue; // a longer name
    series[rest.substr(0, space)] = std::stod(rest.substr(space + 1));
  }
  return series;
}

} // namespace paceline::test
