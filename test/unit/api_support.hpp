/// Reading a request's body in tests.
#pragma once

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <variant>

#include "transport/api/message_request.hpp"

namespace paceline::test {

/// 2026-06-01T12:00:00Z
constexpr unix_us noon = 1'780'315'200'000'000;

/// Of a body that `read(root, problems)` has read: what it made, and what was wrong.
template <class Made>
struct reading {
  Made made;
  problem_list problems;

  bool names(std::string_view pointer) const {
    const auto& all = problems.entries();
    return std::any_of(all.begin(), all.end(),
                       [pointer](const field_problem& one) { return one.pointer == pointer; });
  }
  std::string text() const {
    std::string all;
    for (const auto& one : problems.entries())
      all += one.pointer + ": " + one.detail + "\n";
    return all;
  }
};

template <class F>
auto read_body(const std::string& body, F&& read) {
  auto document = json_document::read(body, message_request::opaque_key);
  if (const auto* problem = std::get_if<field_problem>(&document))
    BOOST_FAIL(body + " is no JSON: " + problem->detail);
  problem_list problems;
  auto made = read(std::get<json_document>(document).root(), problems);
  return reading<decltype(made)>{std::move(made), std::move(problems)};
}

inline reading<message_request> send(const std::string& body) {
  return read_body(body, [](json_value root, problem_list& problems) {
    return read_send(root, noon, problems);
  });
}

inline reading<message_request> batch(const std::string& body) {
  return read_body(body, [](json_value root, problem_list& problems) {
    return read_batch(root, noon, problems);
  });
}

/// A good single send with `more` members.
inline std::string sendable(const std::string& more = {}) {
  return R"({"from":"Shop <shop@example.com>","to":"Anna@Example.com","subject":"Hi {{name}}",)"
         R"("text":"Hello")"
         + (more.empty() ? "" : "," + more) + "}";
}

/// Of one member whose value is given as JSON: refused with this pointer, and with nothing else.
inline void check_refused(const std::string& more, std::string_view pointer,
                          std::string_view says = {}) {
  const auto read = send(sendable(more));
  BOOST_TEST(read.names(pointer), more << " gave: " << read.text());
  BOOST_TEST(read.problems.size() == 1u, more << " gave: " << read.text());
  BOOST_TEST(read.text().find(says) != std::string::npos, more << " gave: " << read.text());
}

inline void check_fine(const std::string& more) {
  const auto read = send(sendable(more));
  BOOST_TEST(read.problems.is_empty(), more << " gave: " << read.text());
}

} // namespace paceline::test
