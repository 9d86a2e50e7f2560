#include "tools/simulators/http_service.hpp"

#include <algorithm>
#include <ctime>
#include <strings.h>

namespace paceline::simulators {
namespace {

constexpr int many = 1000;
constexpr std::size_t large = 4 << 20;

} // namespace

std::string_view http_request::header(std::string_view name) const {
  for (const auto& [known, value] : headers)
    if (known.size() == name.size() && ::strncasecmp(known.data(), name.data(), name.size()) == 0)
      return value;
  return {};
}

http_answer json_answer(int status, std::string body) {
  http_answer answer;
  answer.status = status;
  answer.headers.emplace_back("Content-Type", "application/json");
  answer.body = std::move(body);
  return answer;
}

void spoil(http_answer& good, behaviour what) {
  switch (what) {
  case behaviour::timeout:
    good.how = ending::silence;
    break;
  case behaviour::close_after_read:
    good.how = ending::close;
    break;
  case behaviour::cut_body:
    good.how = ending::cut;
    break;
  case behaviour::endless:
    good.how = ending::endless;
    break;
  case behaviour::truncated:
    good.body.resize(good.body.size() / 2);
    break;
  case behaviour::no_id:
    good.body = "{}";
    break;
  case behaviour::many_headers:
    for (int i = 0; i < many; ++i)
      good.headers.emplace_back("X-Filler-" + std::to_string(i), "x");
    break;
  case behaviour::large_body:
    good.body.insert(good.body.size() - 1, large, ' ');
    break;
  default:
    break;
  }
}

std::string wire_text(const http_answer& what) {
  std::string text;
  text.reserve(256 + what.body.size());
  // The reason phrase means nothing to anybody; an empty one is allowed (RFC 9112, section 4).
  text.append("HTTP/1.1 ").append(std::to_string(what.status)).append(" \r\n");
  for (const auto& [name, value] : what.headers)
    text.append(name).append(": ").append(value).append("\r\n");
  if (what.how == ending::endless)
    return text.append("Transfer-Encoding: chunked\r\n\r\n");
  text.append("Content-Length: ").append(std::to_string(what.body.size())).append("\r\n\r\n");
  return text.append(what.body, 0,
                     what.how == ending::cut ? what.body.size() / 2 : std::string::npos);
}

std::string http_date(std::chrono::seconds ahead) {
  const std::time_t when = std::time(nullptr) + ahead.count();
  std::tm parts{};
  ::gmtime_r(&when, &parts);
  char text[64];
  return {text, std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts)};
}

} // namespace paceline::simulators
