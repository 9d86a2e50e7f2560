#include "test/unit/batch_support.hpp"

#include <utility>

#include "config/text.hpp"

namespace paceline::batch_test {
namespace {

std::string header_of(const std::string& head, const std::string& name) {
  const auto at = head.find("\r\n" + name + ": ");
  if (at == std::string::npos)
    return {};
  const auto begin = at + name.size() + 4;
  return head.substr(begin, head.find("\r\n", begin) - begin);
}

} // namespace

std::vector<std::string> batch_received::list(std::size_t item, const char* member) const {
  std::vector<std::string> out;
  const auto& of = items[static_cast<rapidjson::SizeType>(item)];
  if (of.HasMember(member))
    for (const auto& each : of[member].GetArray())
      out.emplace_back(each.GetString());
  return out;
}

std::string batch_received::text(std::size_t item, const char* member) const {
  const auto& of = items[static_cast<rapidjson::SizeType>(item)];
  return of.HasMember(member) ? of[member].GetString() : "";
}

std::string http_answer(int status, const std::string& body, const std::string& headers) {
  return "HTTP/1.1 " + std::to_string(status) + " Whatever\r\nContent-Type: application/json\r\n"
         + headers + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string refusal_answer(int status, const std::string& name, const std::string& headers) {
  return http_answer(status,
                     R"({"statusCode":)" + std::to_string(status) + R"(,"name":")" + name
                         + R"(","message":"The reason."})",
                     headers);
}

batch_server::batch_server(behaviour special)
    : proof_(trusted_.issue("localhost")), special_(std::move(special)),
      server_([this](outgoing_test::server_connection& client) { serve(client); }, &proof_) {}

void batch_server::serve(outgoing_test::server_connection& client) {
  while (auto request = client.read_request()) {
    auto came = std::make_unique<batch_received>();
    came->head = request->substr(0, request->find("\r\n\r\n") + 2);
    came->body = outgoing_test::body_of(*request);
    came->key = header_of(came->head, "Authorization");
    came->idempotency_key = header_of(came->head, "Idempotency-Key");
    if (came->items.Parse(came->body.c_str()).HasParseError() || !came->items.IsArray())
      return void(client.write(http_answer(400, "{}")));
    std::string answer;
    {
      std::lock_guard lock(mutex_);
      if (const auto special = special_ ? special_(*came) : std::optional<std::string>{}) {
        answer = *special;
      } else if (came->items.Empty()) {
        answer = refusal_answer(422, "missing_required_field");
      } else {
        answer = R"({"data":[)";
        for (rapidjson::SizeType i = 0; i < came->items.Size(); ++i) {
          const auto to = came->list(i, "to").at(0);
          ++accepted_[to];
          answer += (i > 0 ? ",{\"id\":" : "{\"id\":") + json_string("id-" + to) + '}';
        }
        answer = http_answer(200, answer + "]}");
      }
      received_.push_back(std::move(came));
    }
    if (answer.empty())
      return client.cut();
    if (!client.write(answer) || answer.find("Connection: close") != std::string::npos)
      return;
  }
}

std::size_t batch_server::requests() const {
  std::lock_guard lock(mutex_);
  return received_.size();
}

std::map<std::string, int> batch_server::accepted() const {
  std::lock_guard lock(mutex_);
  return accepted_;
}

const batch_received& batch_server::last() const {
  std::lock_guard lock(mutex_);
  return *received_.back();
}

batch_options batch_server::options() const {
  batch_options options;
  options.endpoint = endpoint();
  options.key = "re_secret";
  options.ca_file = trusted_.file();
  options.allow_private = true;
  return options;
}

outgoing_message message_to(const std::string& recipient, std::int64_t id) {
  outgoing_message message;
  message.of = {message_id{id}, 1};
  message.sender = "Paceline <news@paceline.example>";
  message.recipients = {recipient};
  message.to = {recipient};
  message.subject = "Test";
  message.text_body = "Hello.";
  return message;
}

std::vector<provider_answer> batch_stage::send_all(const std::vector<std::string>& recipients) {
  std::vector<const test::staged_call*> started;
  std::int64_t id = 100;
  for (const auto& each : recipients)
    started.push_back(&start(message_to(each, ++id)));
  sends->flush();
  std::vector<provider_answer> answers;
  for (const auto* each : started)
    answers.push_back(answer_of(*each));
  return answers;
}

double batch_stage::requests_per_second() {
  double told = -1;
  sends->ask_quota([&told](const result<quota_reading>& quota) {
    told = quota ? quota->max_send_rate.per_second() : -1;
  });
  return told;
}

} // namespace paceline::batch_test
