#include "test/pg/api_fixture.hpp"

#include "storage/ownership.hpp"
#include "transport/api/json_document.hpp"

namespace paceline::test {

api_fixture::api_fixture() {
  must(seed_route(*db, {"test", "sim"}, 1));
  must(seed_route(*db, {"live", "r1"}, 1));
  must(seed_route(*db, {"live", "r2"}, 1));
  token = make_key({key_scope::send, key_scope::read, key_scope::manage});
  options.id_lane = 11;
  restart();
}

api_fixture::~api_fixture() = default;

void api_fixture::restart(const std::string& with_dsn) {
  service_.reset();
  pool_.reset();
  auto connection = database_fixture::options();
  if (!with_dsn.empty())
    connection.dsn = with_dsn;
  pool_ = std::make_unique<database_pool>(connection, 3, 1000, counts);
  service_ = std::make_unique<api_service>(
      options, *pool_,
      [this](const std::string& route) {
        const std::lock_guard lock{mutex_};
        woken_.push_back(route);
      },
      [this] {
        return is_ready ? health{} : health{true, false, {"no node has a shard"}};
      },
      log_.log);
}

std::vector<std::string> api_fixture::woken() {
  const std::lock_guard lock{mutex_};
  return woken_;
}

std::string api_fixture::make_key(std::vector<key_scope> scopes, const std::string& environment,
                                  const std::string& project, std::optional<std::int32_t> limit) {
  static std::atomic<std::uint8_t> number{0};
  token_secret secret{};
  secret.fill(++number);
  new_key wanted;
  wanted.project = project;
  wanted.environment = environment;
  wanted.name = "key-" + std::to_string(number.load());
  wanted.scopes = std::move(scopes);
  wanted.secret_hash = hash_secret(secret);
  wanted.limit_per_minute = limit;
  return make_token(must(create_key(*db, key_ids_, wanted, "cli:test")), secret);
}

http_response api_fixture::call(const std::string& method, const std::string& target,
                                const std::string& body, header_list headers) {
  http_request request;
  request.id = "req-1";
  request.method = method;
  const auto mark = target.find('?');
  request.path = target.substr(0, mark);
  for (auto rest = mark == std::string::npos ? std::string{} : target.substr(mark + 1);
       !rest.empty();) {
    const auto end = rest.find('&');
    const auto one = rest.substr(0, end);
    request.query.emplace_back(one.substr(0, one.find('=')), one.substr(one.find('=') + 1));
    rest = end == std::string::npos ? std::string{} : rest.substr(end + 1);
  }
  request.headers = std::move(headers);
  if (request.count("Authorization") == 0)
    request.headers.emplace_back("Authorization", bearer(token));
  if (!body.empty() && request.count("Content-Type") == 0)
    request.headers.emplace_back("Content-Type", "application/json; charset=utf-8");
  request.body = body;
  return service_->answer(request);
}

std::string api_fixture::message(const std::string& more) {
  return R"({"from":"Shop <shop@example.com>","to":"anna@example.com","subject":"Hi",)"
         R"("text":"Hello")"
         + (more.empty() ? "" : "," + more) + "}";
}

std::string api_fixture::member(const http_response& answer, std::string_view name) {
  const auto read = json_document::read(answer.body);
  if (const auto* document = std::get_if<json_document>(&read))
    for (const auto one : document->root())
      if (one.key() == name)
        return std::string{one.text()};
  return {};
}

std::string api_fixture::header(const http_response& answer, std::string_view name) {
  for (const auto& [key, value] : answer.headers)
    if (key == name)
      return value;
  return {};
}

} // namespace paceline::test
