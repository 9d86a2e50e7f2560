#include "transport/mail/mime_frame.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "transport/api/base64url.hpp"
#include "transport/mail/attached_part.hpp"

namespace paceline {
namespace {

constexpr std::size_t max_attachments = 50;
constexpr std::size_t max_attached = 40 << 20; ///< octets of all together

/// Writes from outside to inside and back.
class frame_writer {
public:
  /// Boundaries are `=_` and a hash: `_` is no character of base64, and after `=` none of
  /// quoted-printable. So they occur in no part, whatever it says.
  explicit frame_writer(const content& what)
      : boundary_("=_"
                  + base64url(std::string_view{content_hash_text(what)}.substr(0, hash_octets))) {}

  void open(std::string_view subtype, std::string_view parameters = "") {
    const auto boundary = boundary_ + static_cast<char>('a' + open_.size());
    ((((out_ += "Content-Type: multipart/") += subtype) += ';') += parameters) +=
        "\r\n boundary=\"";
    (out_ += boundary) += "\"\r\n\r\n";
    open_.push_back(boundary);
  }

  /// Begins a part of the innermost multipart.
  void begin_part() { ((out_ += "--") += open_.back()) += "\r\n"; }

  void begin_text(std::string_view subtype) {
    ((out_ += "Content-Type: text/") += subtype) += "; charset=utf-8\r\n";
    out_ += "Content-Transfer-Encoding: quoted-printable\r\n\r\n";
  }

  void add_part(std::string_view text) {
    out_ += "\r\n";
    begin_part();
    out_ += text;
  }

  void close() {
    ((out_ += "\r\n--") += open_.back()) += "--";
    open_.pop_back();
  }

  std::string& out() { return out_; }
  std::string take() { return std::exchange(out_, {}); }

private:
  static constexpr std::size_t hash_octets = 15;

  static std::string content_hash_text(const content& what) {
    const auto hash = content_hash(what);
    return {reinterpret_cast<const char*>(hash.data()), hash.size()};
  }

  std::string boundary_, out_;
  std::vector<std::string> open_;
};

/// Sorted by where they go, and encoded.
struct attached_parts {
  std::vector<std::string> with_html, last;
};

result<attached_parts> attach(const content& what) {
  if (what.attachments.size() > max_attachments)
    return error{error_kind::invalid, "attachments: more than 50"};
  std::size_t octets = 0;
  attached_parts made;
  for (std::size_t i = 0; i < what.attachments.size(); ++i) {
    const auto& one = what.attachments[i];
    octets += one.data.size();
    if (octets > max_attached)
      return error{error_kind::invalid, "attachments: more than 40 MiB together"};
    const bool is_inline = !one.content_id.empty() && !what.html_body.empty();
    auto part = make_attached_part(one, "attachments[" + std::to_string(i) + "]", is_inline);
    if (!part)
      return part.failure();
    (is_inline ? made.with_html : made.last).push_back(std::move(*part));
  }
  return made;
}

} // namespace

result<mime_frame> make_mime_frame(const content& what) {
  const auto attached = attach(what);
  if (!attached)
    return attached.failure();
  mime_frame made;
  made.has_html = !what.html_body.empty();
  made.has_text = !what.text_body.empty() || !made.has_html;
  const bool is_mixed = !attached->last.empty(), is_related = !attached->with_html.empty();
  const bool is_alternative = made.has_text && made.has_html;
  frame_writer frame{what};
  frame.out() = "MIME-Version: 1.0\r\n";
  const auto open = [&frame](std::string_view subtype, std::string_view parameters = "") {
    frame.open(subtype, parameters);
    frame.begin_part();
  };
  if (is_mixed)
    open("mixed");
  if (is_alternative)
    open("alternative");
  if (made.has_text) {
    frame.begin_text("plain");
    made.before_text = frame.take();
  }
  if (is_alternative) {
    frame.out() = "\r\n";
    frame.begin_part();
  }
  if (is_related)
    open("related", " type=\"text/html\";");
  if (made.has_html) {
    frame.begin_text("html");
    made.before_html = frame.take();
  }
  for (const auto& part : attached->with_html)
    frame.add_part(part);
  if (is_related)
    frame.close();
  if (is_alternative)
    frame.close();
  for (const auto& part : attached->last)
    frame.add_part(part);
  if (is_mixed)
    frame.close();
  if (is_mixed || is_related || is_alternative)
    frame.out() += "\r\n";
  if (what.attachments.empty())
    made.after = frame.take();
  else
    made.tail = std::make_shared<const std::string>(frame.take());
  return made;
}

} // namespace paceline
