#include "transport/mail/header_field.hpp"

#include <algorithm>

#include <openssl/evp.h>

#include "config/text.hpp"

namespace paceline {
namespace {

constexpr std::size_t line_limit = 76; ///< RFC 2047, section 2, for lines with encoded words
constexpr std::size_t word_limit = 75;
constexpr std::string_view word_begin = "=?UTF-8?", word_end = "?=";
constexpr std::size_t word_frame = word_begin.size() + 2 + word_end.size(); ///< with `Q?` or `B?`
/// A longer word is encoded, because nothing else could fold it.
constexpr std::size_t max_plain_word = 900;
constexpr std::string_view blanks = " \t";

bool is_plain(char c) {
  return (c >= ' ' && c < 0x7f) || c == '\t';
}

bool needs_encoding(std::string_view word) {
  return word.size() > max_plain_word || word.find("=?") != std::string_view::npos
         || !std::all_of(word.begin(), word.end(), is_plain);
}

/// What may stand in a Q word everywhere, in a phrase too (RFC 2047, section 5.3).
bool is_q_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '!'
         || c == '*' || c == '+' || c == '-' || c == '/';
}

std::size_t q_size(std::string_view text) {
  std::size_t size = 0;
  for (const char c : text)
    size += is_q_character(c) || c == ' ' ? 1 : 3;
  return size;
}

std::size_t b_size(std::size_t octets) {
  return (octets + 2) / 3 * 4;
}

/// Octets of whole characters that fit into `room` as Q.
std::size_t fitting_q(std::string_view text, std::size_t room) {
  std::size_t taken = 0, used = 0;
  while (taken < text.size()) {
    const auto next = std::max<std::size_t>(1, utf8_sequence(text, taken));
    used += q_size(text.substr(taken, next));
    if (used > room)
      break;
    taken += next;
  }
  return taken;
}

/// The same as B: all of `text`, or what needs no padding, because some readers drop the words
/// after a padded one. 0 where that can't be had.
std::size_t fitting_b(std::string_view text, std::size_t room) {
  std::size_t taken = 0, unpadded = 0;
  while (taken < text.size()) {
    const auto next = std::max<std::size_t>(1, utf8_sequence(text, taken));
    if (b_size(taken + next) > room)
      return unpadded;
    taken += next;
    if (taken % 3 == 0)
      unpadded = taken;
  }
  return taken;
}

void append_q(std::string& to, std::string_view text) {
  constexpr std::string_view hexadecimal = "0123456789ABCDEF";
  for (const char c : text) {
    const auto value = static_cast<unsigned char>(c);
    if (is_q_character(c))
      to += c;
    else if (c == ' ')
      to += '_';
    else
      ((to += '=') += hexadecimal[value >> 4]) += hexadecimal[value & 15];
  }
}

void append_b(std::string& to, std::string_view text) {
  unsigned char code[word_limit + 2];
  const auto size = EVP_EncodeBlock(code, reinterpret_cast<const unsigned char*>(text.data()),
                                    static_cast<int>(text.size()));
  to.append(reinterpret_cast<const char*>(code), static_cast<std::size_t>(size));
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// Takes the blanks that `text` begins with.
std::string_view take_blanks(std::string_view& text) {
  const auto end = std::min(text.find_first_not_of(blanks), text.size());
  const auto taken = text.substr(0, end);
  text.remove_prefix(end);
  return taken;
}

/// The range from the first word that must be encoded to the last one; empty without any.
std::string_view encoded_range(std::string_view text) {
  const auto whole = text;
  std::size_t begin = std::string_view::npos, end = 0;
  while (!text.empty()) {
    take_blanks(text);
    const auto word = text.substr(0, text.find_first_of(blanks));
    text.remove_prefix(word.size());
    if (!needs_encoding(word))
      continue;
    end = static_cast<std::size_t>(word.data() + word.size() - whole.data());
    begin = std::min(begin, end - word.size());
  }
  return end == 0 ? std::string_view{} : whole.substr(begin, end - begin);
}

constexpr std::string_view atom_specials = "!#$%&'*+-/=?^_`{|}~ ";

/// RFC 5322, section 3.2.3, with single blanks between.
bool is_row_of_atoms(std::string_view name) {
  return name.find("  ") == std::string_view::npos
         && std::all_of(name.begin(), name.end(), [](char c) {
              return is_q_character(c) || atom_specials.find(c) != std::string_view::npos;
            });
}

std::string quoted(std::string_view name) {
  std::string text{'"'};
  for (const char c : name) {
    if (c == '"' || c == '\\')
      text += '\\';
    text += c;
  }
  return text += '"';
}

} // namespace

header_field::header_field(std::string& out, std::string_view name) : out_(out), line_(out.size()) {
  (out_ += name) += ": ";
  begin_ = out_.size();
}

void header_field::fold(std::string_view blanks_before) {
  if (at_begin())
    out_.pop_back(); // the blank after the colon comes with the fold
  out_ += "\r\n";
  line_ = out_.size();
  out_ += blanks_before;
}

void header_field::word(std::string_view blanks_before, std::string_view text,
                        std::string_view end) {
  const auto size = out_.size() - line_ + blanks_before.size() + text.size() + end.size();
  if (size > line_limit && !blanks_before.empty())
    fold(blanks_before);
  else
    out_ += blanks_before;
  (out_ += text) += end;
}

void header_field::words(std::string_view text) {
  while (!text.empty()) {
    const auto before = take_blanks(text);
    const auto next = text.substr(0, text.find_first_of(blanks));
    text.remove_prefix(next.size());
    word(at_begin() ? std::string_view{} : before, next);
  }
}

void header_field::encoded_words(std::string_view text) {
  // Q as long as it is not much longer, because people read it in logs and sources.
  const bool prefers_q = 2 * q_size(text) <= 3 * b_size(text.size());
  while (!text.empty()) {
    const auto column = out_.size() - line_;
    const auto room = std::min(word_limit, line_limit - std::min(line_limit, column));
    const auto left = room - std::min(room, word_frame);
    auto fit = prefers_q ? 0 : fitting_b(text, left);
    const bool as_q = fit == 0;
    if (as_q)
      fit = fitting_q(text, left);
    if (fit > 0) {
      (out_ += word_begin) += as_q ? "Q?" : "B?";
      (as_q ? append_q : append_b)(out_, text.substr(0, fit));
      out_ += word_end;
      text.remove_prefix(fit);
    }
    if (!text.empty())
      fold(" ");
  }
}

void header_field::unstructured(std::string_view text) {
  text = trimmed(text);
  const auto range = encoded_range(text);
  if (range.empty())
    return words(text);
  const auto begin = static_cast<std::size_t>(range.data() - text.data());
  auto before = text.substr(0, begin);
  // The blanks right before the first encoded word move into the next line with it.
  const auto last = before.find_last_not_of(blanks);
  const auto between = last == std::string_view::npos ? before : before.substr(last + 1);
  words(before.substr(0, before.size() - between.size()));
  if (!between.empty()) {
    const auto least = word_frame + 12; // the longest character as Q
    if (out_.size() - line_ + between.size() + least > line_limit)
      fold(between);
    else
      out_ += between;
  }
  encoded_words(range);
  words(text.substr(begin + range.size()));
}

void header_field::address(std::string_view address, bool more) {
  word(at_begin() ? "" : " ", address, more ? "," : "");
}

void header_field::mailbox(const mail_address& who, bool more) {
  if (who.name.empty())
    return address(who.address, more);
  const std::string_view before = at_begin() ? "" : " ";
  if (needs_encoding(who.name)) {
    if (!before.empty())
      word(before, "");
    encoded_words(who.name);
  } else {
    words(std::string{before} + (is_row_of_atoms(who.name) ? who.name : quoted(who.name)));
  }
  word(" ", '<' + who.address + (more ? ">," : ">"));
}

void header_field::finish() {
  if (at_begin())
    out_.pop_back();
  out_ += "\r\n";
}

void append_text_field(std::string& to, std::string_view name, std::string_view value) {
  header_field field{to, name};
  field.unstructured(value);
  field.finish();
}

void append_mailbox_field(std::string& to, std::string_view name,
                          const std::vector<mail_address>& all) {
  header_field field{to, name};
  for (std::size_t i = 0; i < all.size(); ++i)
    field.mailbox(all[i], i + 1 < all.size());
  field.finish();
}

} // namespace paceline
