/// The configuration file, taken apart into paths and values. The TOML library and its exceptions
/// stay behind this header.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "config/values.hpp"

namespace paceline {

struct file_content {
  /// Every leaf, and every empty table as `foreign_value{"table"}`, in the order of the file.
  std::vector<raw_setting> values;
  /// Why the file could not be read: it then has no values.
  std::vector<config_error> errors;
};

/// Reads at most 1 MiB of UTF-8. Errors name the file and, where there is one, the line.
file_content read_settings_file(const std::filesystem::path& path);

} // namespace paceline
