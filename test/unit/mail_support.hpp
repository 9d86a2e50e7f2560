/// What the tests of mail share: contents, rows, and a reader of messages that is none of ours
/// (GMime).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <rapidjson/document.h>

#include "storage/claims.hpp"
#include "storage/contents.hpp"
#include "transport/mail/composer.hpp"

namespace paceline::test {

/// A file of test/vectors; fails the test if it can't be read.
rapidjson::Document read_vectors(const std::string& path);
std::string text_of(const rapidjson::Value& value);

content plain_content();
due_message row_for(std::vector<std::string> recipients, std::string fields = "{}");

/// Compiles and composes; fails the test where that fails.
outgoing_message compose_mail(const content& what, const due_message& row,
                              mail_form form = mail_form::raw);
/// The text of the error; empty where there is none.
std::string compile_failure(const content& what);
std::string compose_failure(const content& what, const due_message& row);
/// `raw` and `raw_tail`.
std::string whole_text(const outgoing_message& message);

/// One part with content, as GMime reads it.
struct read_part {
  std::string type;        ///< `text/html`
  std::string inside;      ///< subtypes of the multiparts around it: `mixed/alternative`
  std::string file_name;   ///< decoded
  std::string disposition; ///< empty if there is none
  std::string content_id;
  std::string octets; ///< decoded
};
struct read_mail {
  std::vector<std::pair<std::string, std::string>> headers; ///< unfolded, not decoded
  std::vector<read_part> parts;

  /// The only header of that name, decoded; fails the test where there is none or another one.
  std::string header(const std::string& name) const;
  std::size_t count(const std::string& name) const;
};
read_mail read_message(const std::string& text);

/// RFC 2047, as GMime decodes it.
std::string decoded_words(const std::string& text);
std::string decode_quoted_printable(const std::string& text);
/// The value of a parameter; empty without one. `header` is a media type with its parameters.
std::string parameter_of(const std::string& header, const std::string& name);

/// What every message must keep: 7 bits, lines of at most 998 octets, CRLF and no other CR or LF.
void check_octets(const std::string& text);
/// CRLF, LF and CR as LF.
std::string with_line_feeds(std::string_view text);

} // namespace paceline::test
