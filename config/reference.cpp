#include "config/reference.hpp"

#include "config/options.hpp"

namespace paceline {
namespace {

constexpr std::size_t width = 100;

/// `text` in lines of at most `width` octets that begin with `start`.
std::string wrapped(std::string_view text, std::string_view start) {
  std::string out, line{start};
  bool is_fresh = true;
  while (!text.empty()) {
    auto word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size() + (word.size() < text.size() ? 1 : 0));
    if (!is_fresh && line.size() + 1 + word.size() > width) {
      out.append(line).append("\n");
      line = start;
      is_fresh = true;
    }
    line.append(is_fresh ? "" : " ").append(word);
    is_fresh = false;
  }
  return out.append(line).append("\n");
}

bool is_quoted(const option& which) {
  return which.type == option_type::text || which.type == option_type::choice;
}

std::string toml_value(const option& which, std::string_view value) {
  if (which.type == option_type::list_of_text)
    return "[]"; // no list has another default
  std::string out{is_quoted(which) ? "\"" : ""};
  out += value;
  return out.append(is_quoted(which) ? "\"" : "");
}

std::string allowed_in_words(const option& which) {
  auto text = allowed_values(which);
  bool says_unit = which.type == option_type::duration_ms || which.unit.empty();
  return says_unit ? text : text + " (" + std::string{which.unit} + ")";
}

std::string default_in_words(const option& which) {
  if (which.is_required)
    return "required";
  if (!which.initial_note.empty())
    return std::string{which.initial_note};
  std::string out{"`"};
  return out.append(toml_value(which, which.initial)).append("`");
}

std::string example_of(const option& which) {
  auto out = wrapped(which.doc, "# ");
  out += wrapped("Allowed: " + allowed_in_words(which) + ".", "# ");
  if (!which.initial_note.empty())
    out += wrapped("Default: " + std::string{which.initial_note} + ".", "# ");
  auto value = toml_value(which, which.is_required ? which.example : which.initial);
  out.append(which.is_required ? "" : "#").append(name_of(which)).append(" = ").append(value);
  return out += "\n";
}

std::string header_of(const option_section& section, std::string_view instance) {
  std::string out{section.name};
  if (instance.empty())
    return out;
  bool is_plain = instance.find(':') == std::string_view::npos;
  return out.append(is_plain ? "." : ".\"").append(instance).append(is_plain ? "" : "\"");
}

std::string reference_of(const option& which) {
  std::string out = "### `" + std::string{which.key} + "`\n\n" + wrapped(which.doc, "") + "\n";
  out += "- Allowed: " + allowed_in_words(which) + "\n";
  out += "- Default: " + default_in_words(which) + "\n";
  if (auto variable = environment_name(which); !variable.empty())
    out += "- Environment: `" + variable + "`\n";
  if (which.is_live)
    out += "- Live\n";
  return out += "\n";
}

} // namespace

std::string render_example() {
  std::string out =
      "# Configuration of Paceline, made from the table in config/options.cpp.\n"
      "# What begins with `#` and no space is a default: remove the `#` to change it.\n"
      "# docs/configuration.md explains how values are found.\n";
  for (const auto& section : all_sections()) {
    out.append("\n").append(wrapped(section.doc, "# "));
    out.append("[").append(header_of(section, section.example)).append("]\n");
    for (const auto& each : all_options())
      if (section_of(each) == section.name)
        out.append("\n").append(example_of(each));
  }
  return out;
}

std::string render_reference() {
  std::string out = "# Configuration\n\n<!-- Made from the table in config/options.cpp; a test "
                    "keeps it current. Don't edit. -->\n\n";
  out += wrapped("Every option has a default unless it is required. Four sources are read, and "
                 "the later one wins: the default, the TOML file (UTF-8, at most 1 MiB), the "
                 "environment, and `--set key=value`.",
                 "");
  out += '\n';
  out += wrapped("A variable is the key in upper case with `PACELINE_` before it and `__` for "
                 "the dot. Environments and routes are set in the file or by `--set`, e.g. "
                 "`--set routes.test:sim.shards=8`. On the command line and in the environment "
                 "a list of texts is divided by commas.",
                 "");
  out += '\n';
  out += wrapped("An unknown key, a wrong type or a value out of range is an error; all errors "
                 "are reported at once and nothing is started. `paceline config check` shows "
                 "every value in effect and where it came from, with passwords masked. An "
                 "option marked Live takes effect in a running node that gets SIGHUP; all others "
                 "need a restart.",
                 "");
  for (const auto& section : all_sections()) {
    auto header = header_of(section, section.placeholder);
    out.append("\n## `[").append(header).append("]`\n\n");
    out.append(wrapped(section.doc, "")).append("\n");
    for (const auto& each : all_options())
      if (section_of(each) == section.name)
        out += reference_of(each);
    out.pop_back(); // one empty line before the next section, none at the end
  }
  return out;
}

} // namespace paceline
