/// A listener that stands in for SES or another AWS service: it keeps what was asked, and answers
/// as the test says.
#pragma once

#include <boost/test/unit_test.hpp>

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "test/unit/http_support.hpp"
#include "transport/aws/credentials.hpp"
#include "transport/providers/ses.hpp"

namespace paceline::test {

inline environment_function variables(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const std::string& name) -> std::optional<std::string> {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional{found->second};
  };
}

inline http_response aws_error(int status, const std::string& code, const std::string& text) {
  return {
      status, "application/json", R"({"message":")" + text + R"("})", {{"x-amzn-ErrorType", code}}};
}

inline http_response aws_answer(const std::string& body) {
  return {200, "application/json", body, {}};
}

class aws_stand_in {
public:
  using script = std::function<http_response(const http_request&)>;
  explicit aws_stand_in(script answers)
      : node_({}, [this, answers = std::move(answers)](const http_request& asked) {
          // HEAD requests only open connections.
          if (asked.method == "HEAD")
            return http_response{404, "text/plain", "", {}};
          {
            std::lock_guard lock{mutex_};
            asked_.push_back(asked);
          }
          return answers(asked);
        }) {}

  std::string url() const { return "http://127.0.0.1:" + std::to_string(node_.port()); }
  std::vector<http_request> asked() const {
    std::lock_guard lock{mutex_};
    return asked_;
  }
  std::vector<std::string> paths() const {
    std::vector<std::string> made;
    for (const auto& one : asked())
      made.push_back(one.method + " " + one.path);
    return made;
  }

private:
  mutable std::mutex mutex_;
  std::vector<http_request> asked_;
  http_test::served node_;
};

inline ses_options options_for(const aws_stand_in& service) {
  ses_options options;
  options.region = "eu-west-1";
  options.endpoint = service.url();
  options.configuration_set = "bulk";
  options.connections.allow_private = true;
  options.connections.http2 = false;
  options.warm_connections = 0;
  options.credentials.environment =
      variables({{"AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"}, {"AWS_SECRET_ACCESS_KEY", "hush-secret"}});
  return options;
}

inline outgoing_message ses_message(std::int64_t id = 7) {
  outgoing_message message;
  message.of = attempt{message_id{id}, 2};
  message.sender = "News <news@example.org>";
  message.recipients = {"anna@example.com"};
  message.raw = "From: News <news@example.org>\r\nTo: anna@example.com\r\n\r\nHello\r\n";
  return message;
}

} // namespace paceline::test
