/// The parts of SMTP that need no connection: replies, envelope, text.
#include <boost/test/unit_test.hpp>

#include <random>

#include "transport/providers/smtp_message.hpp"
#include "transport/providers/smtp_reply.hpp"

using namespace paceline;

namespace {

/// Everything that `message` puts on the wire, made `room` octets at a time.
std::string wire_of(const outgoing_message& message, std::size_t room) {
  smtp_text text{message};
  std::string out;
  while (text.read(out, room)) {
  }
  return out;
}

/// As a server reads it: without doubled dots, up to the final one. Nothing if that comes too early
/// or never.
std::optional<std::string> read_wire(const std::string& wire) {
  std::string text;
  for (std::size_t at = 0; at < wire.size();) {
    const auto end = wire.find("\r\n", at);
    if (end == std::string::npos)
      return std::nullopt;
    auto line = wire.substr(at, end - at);
    at = end + 2;
    if (line == ".")
      return at == wire.size() ? std::optional{text} : std::nullopt;
    text += (line.starts_with('.') ? line.substr(1) : line) + "\r\n";
  }
  return std::nullopt;
}

outgoing_message with_text(std::string raw, const std::string& tail = {}) {
  outgoing_message message;
  message.raw = std::move(raw);
  if (!tail.empty())
    message.raw_tail = std::make_shared<std::string>(tail);
  return message;
}

} // namespace

BOOST_AUTO_TEST_SUITE(smtp_replies)

BOOST_AUTO_TEST_CASE(a_reply_of_several_lines_is_one_reply_however_it_comes) {
  const std::string wire =
      "250-first\r\n250-PIPELINING\r\n250 2.1.0 last one\r\n451 4.7.1 later\r\n";
  for (std::size_t piece = 1; piece <= wire.size(); ++piece) {
    smtp_reply_reader reader;
    std::vector<smtp_reply> read;
    for (std::size_t at = 0; at < wire.size(); at += piece) {
      reader.feed(wire.substr(at, piece));
      while (auto reply = reader.next())
        read.push_back(*reply);
    }
    BOOST_REQUIRE_EQUAL(read.size(), 2);
    BOOST_TEST(read[0].code == 250);
    BOOST_TEST(read[0].enhanced == "2.1.0");
    BOOST_TEST(read[0].text == "first PIPELINING last one");
    BOOST_TEST(read[1].line() == "451 4.7.1 later");
    BOOST_TEST(!reader.is_broken());
  }
}

BOOST_AUTO_TEST_CASE(bare_codes_and_bare_line_feeds_are_replies) {
  smtp_reply_reader reader;
  reader.feed("250\n354 \r\n550 5.1.1\r\n");
  BOOST_TEST(reader.next()->code == 250);
  BOOST_TEST(reader.next()->code == 354);
  const auto last = reader.next();
  BOOST_TEST(last->enhanced == "5.1.1");
  BOOST_TEST(last->text == "");
}

BOOST_AUTO_TEST_CASE(an_enhanced_code_of_another_class_is_text) {
  smtp_reply_reader reader;
  reader.feed("550 4.7.1 odd\r\n250 1.2 is no code\r\n550 5.1.1a neither\r\n");
  for (int i = 0; i < 3; ++i)
    BOOST_TEST(reader.next()->enhanced == "");
}

BOOST_AUTO_TEST_CASE(what_is_no_reply_breaks_the_reader) {
  for (const std::string wire :
       {"hello\r\n", "25 fine\r\n", "2500 fine\r\n", "650 what\r\n", "\r\n",
        "250-one\r\n251 other code\r\n", "120 early\r\n", "25\xb2 ok\r\n"}) {
    smtp_reply_reader reader;
    reader.feed(wire);
    BOOST_TEST(!reader.next().has_value(), wire);
    BOOST_TEST(reader.is_broken(), wire);
  }
}

BOOST_AUTO_TEST_CASE(replies_have_bounds) {
  smtp_reply_reader endless;
  endless.feed("250 " + std::string(smtp_reply_reader::max_line, 'x'));
  BOOST_TEST(!endless.next().has_value());
  BOOST_TEST(endless.is_broken());
  smtp_reply_reader many;
  for (std::size_t i = 0; i <= smtp_reply_reader::max_lines; ++i)
    many.feed("250-more\r\n");
  BOOST_TEST(!many.next().has_value());
  BOOST_TEST(many.is_broken());
  smtp_reply_reader wide;
  wide.feed("250-" + std::string(900, 'x') + "\r\n250 " + std::string(900, 'y') + "\r\n");
  BOOST_TEST(wide.next()->text.size() <= 501);
}

BOOST_AUTO_TEST_CASE(dots_that_begin_a_line_are_doubled) {
  BOOST_TEST(wire_of(with_text("a\r\n.b\r\n..\r\n.\r\nc.\r\n"), 1000)
             == "a\r\n..b\r\n...\r\n..\r\nc.\r\n.\r\n");
  BOOST_TEST(wire_of(with_text(".x"), 1000) == "..x\r\n.\r\n");
  BOOST_TEST(wire_of(with_text(""), 1000) == ".\r\n");
  BOOST_TEST(wire_of(with_text("a\r\n", ".tail\r\n"), 1000) == "a\r\n..tail\r\n.\r\n");
  BOOST_TEST(wire_of(with_text("a", ".tail"), 1000) == "a.tail\r\n.\r\n");
}

BOOST_AUTO_TEST_CASE(a_bare_line_feed_can_not_end_the_message) {
  const auto wire = wire_of(with_text("a\n.\nMAIL FROM:<x@y.z>\nb\n.\r\n"), 1000);
  BOOST_TEST(wire.find("\n.\n") == std::string::npos);
  BOOST_TEST(wire.find("\n.\r\n") == wire.size() - 4);
}

BOOST_AUTO_TEST_CASE(a_server_reads_back_what_was_written_in_pieces_of_any_size) {
  std::mt19937 generator{4711};
  const std::vector<std::string> words{".", "..", "a", "\r\n", "\r\n.", "text.", "\r\n\r\n"};
  for (int round = 0; round < 500; ++round) {
    std::string parts[2];
    for (auto& part : parts)
      for (auto count = generator() % 20; count > 0; --count)
        part += words[generator() % words.size()];
    parts[1] += "\r\n";
    const auto wire = wire_of(with_text(parts[0], parts[1]), 1 + generator() % 9);
    const auto read = read_wire(wire);
    BOOST_REQUIRE_MESSAGE(read.has_value(), wire);
    BOOST_TEST(*read == parts[0] + parts[1]);
  }
}

BOOST_AUTO_TEST_CASE(the_final_dot_is_known_before_it_is_sent) {
  const auto message = with_text(std::string(100, 'x') + "\r\n");
  smtp_text text{message};
  std::string out;
  BOOST_TEST(text.read(out, 50));
  BOOST_TEST(!text.is_over());
  while (text.read(out, 50))
    BOOST_TEST(text.is_over() == out.ends_with("\r\n.\r\n"));
  BOOST_TEST(text.is_over());
}

BOOST_AUTO_TEST_CASE(our_message_id_is_found_in_the_head_only) {
  BOOST_TEST(message_id_of("From: a\r\nmessage-id: <1@x>\r\n\r\n") == "<1@x>");
  BOOST_TEST(message_id_of("From: a\r\n\r\nMessage-ID: <2@x>\r\n") == "");
  BOOST_TEST(message_id_of("") == "");
}

BOOST_AUTO_TEST_SUITE_END()
