/// What a message is made of, as given on the command line: for `send` and `preview`.
#pragma once

#include <string>
#include <vector>

#include "storage/contents.hpp"
#include "storage/result.hpp"

namespace CLI {
class App;
}

namespace paceline {

/// Empty where it wasn't given.
struct content_options {
  std::string from;
  std::string subject, subject_file, text, text_file, html, html_file;
  std::vector<std::string> attached, shown_inline;      ///< files
  std::vector<std::string> headers, reply_to, defaults; ///< NAME=VALUE, mailboxes, NAME=VALUE
  std::string missing;
};

/// `needs_sender`: whether the parser asks for `--from`.
void add_content_options(CLI::App& to, content_options& into, bool needs_sender);

/// What no parser can say: which of them are missing. Empty if all is well.
std::string content_problem(const content_options& options);

/// Everything read from texts and files and checked piece by piece. What only shows in the whole
/// message shows in `make_preview`.
result<content> read_content(const content_options& options);

} // namespace paceline
