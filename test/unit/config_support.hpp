/// What the tests of the configuration share: files of their own and short ways to load.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "config/settings.hpp"

namespace paceline::config_test {

using pairs = std::vector<std::pair<std::string, std::string>>;

/// A file that lives as long as the object.
class temporary_file {
public:
  explicit temporary_file(std::string_view content) {
    std::string name = (std::filesystem::temp_directory_path() / "paceline-XXXXXX").string();
    int descriptor = ::mkstemp(name.data());
    BOOST_REQUIRE(descriptor >= 0);
    ::close(descriptor);
    path_ = name;
    std::ofstream{path_, std::ios::binary} << content;
  }
  ~temporary_file() { std::filesystem::remove(path_); }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;
  const std::filesystem::path& path() const { return path_; }

private:
  std::filesystem::path path_;
};

/// The least that loads.
inline const std::string minimal = "[database]\ndsn = \"host=db\"\n"
                                   "[environments.test]\nkind = \"test\"\n"
                                   "[routes.\"test:sim\"]\n";

inline std::variant<settings, std::vector<config_error>> load_text(std::string_view toml,
                                                                   pairs environment = {},
                                                                   pairs overrides = {}) {
  temporary_file file{toml};
  return load_settings({file.path(), std::move(environment), std::move(overrides)});
}

/// The settings; the test fails with the errors if there are some.
inline settings loaded(std::string_view toml, pairs environment = {}, pairs overrides = {}) {
  auto result = load_text(toml, std::move(environment), std::move(overrides));
  if (auto errors = std::get_if<std::vector<config_error>>(&result)) {
    for (const auto& each : *errors)
      BOOST_TEST_MESSAGE(each.text());
    BOOST_FAIL("did not load");
  }
  return std::get<settings>(std::move(result));
}

/// The errors, none if it loads.
inline std::vector<config_error> errors_of(std::string_view toml, pairs environment = {},
                                           pairs overrides = {}) {
  auto result = load_text(toml, std::move(environment), std::move(overrides));
  auto errors = std::get_if<std::vector<config_error>>(&result);
  return errors ? *errors : std::vector<config_error>{};
}

/// The only error of `minimal` with one `--set`.
inline config_error refusal_of(const std::string& key, const std::string& value) {
  auto errors = errors_of(minimal, {}, {{key, value}});
  BOOST_REQUIRE_MESSAGE(errors.size() == 1, key << " = " << value << " gives " << errors.size());
  return errors.front();
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

} // namespace paceline::config_test
