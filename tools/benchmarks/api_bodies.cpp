#include "tools/benchmarks/api_bodies.hpp"

namespace paceline::bench {

std::string send_body(std::int64_t number) {
  const auto text = std::to_string(number);
  return R"({"from":"Shop <shop@example.com>","to":"user)" + text
         + R"(@simulator.paceline.test","subject":"Your order )" + text
         + R"(","text":"Thank you for your order.\n\nIt leaves our house tomorrow.\n"})";
}

std::string batch_body(std::int64_t first, std::int64_t recipients) {
  std::string body =
      R"({"content":{"from":"News <news@example.com>","subject":"News for {{name}}",)"
      R"("text":"Hello {{name}},\n\nthis is what happened in {{city}} this week.\n"},"messages":[)";
  for (auto number = first; number < first + recipients; ++number) {
    const auto text = std::to_string(number);
    body.append(number == first ? "" : ",")
        .append(R"({"to":"user)")
        .append(text)
        .append(R"(@simulator.paceline.test","fields":{"name":"Name )")
        .append(text)
        .append(R"(","city":"City )")
        .append(std::to_string(number % 100))
        .append(R"("}})");
  }
  return body.append("]}");
}

} // namespace paceline::bench
