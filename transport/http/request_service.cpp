#include "transport/http/request_service.hpp"

#include <sys/random.h>

#include <array>
#include <charconv>
#include <exception>
#include <utility>

#include "config/text.hpp"
#include "storage/model/instants.hpp"
#include "transport/http/ascii.hpp"
#include "transport/http/problem.hpp"

namespace paceline {
namespace {

std::string hexadecimal(std::uint64_t number) {
  std::array<char, 16> digits;
  auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr;
  return {digits.data(), end};
}

std::string random_prefix() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number)
    number = static_cast<std::uint64_t>(boot_clock::now().time_since_epoch().count());
  return hexadecimal(number) + "-";
}

/// What may go into logs and headers as it is.
bool is_sane_id(std::string_view id) {
  return !id.empty() && id.size() <= 64
         && id.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                 "0123456789._-")
                == std::string_view::npos;
}

/// Every escape is valid: the head was checked.
std::string decoded(std::string_view path) {
  std::string made;
  for (std::size_t i = 0; i < path.size(); ++i)
    if (path[i] == '%' && i + 2 < path.size()) {
      made += static_cast<char>(std::stoi(std::string{path.substr(i + 1, 2)}, nullptr, 16));
      i += 2;
    } else {
      made += path[i];
    }
  return made;
}

/// The path as it may be logged. What follows /unsubscribe/ is a secret. An address stands behind
/// the resource's name and may hold slashes itself, so all from the third segment on is masked as
/// one where there is an @, encoded or not.
std::string loggable(std::string path) {
  constexpr std::string_view links = "/unsubscribe/";
  if (decoded(path).find(links) != std::string::npos)
    return std::string{links} + "...";
  for (std::size_t at = 0; (at = path.find("%40", at)) != std::string::npos;)
    path.replace(at, 3, "@");
  if (path.find('@') == std::string::npos)
    return path;
  std::size_t begin = 0;
  for (int slashes = 0; begin < path.size() && slashes < 3; ++begin)
    if (path[begin] == '/')
      ++slashes;
  const auto address = path.substr(begin);
  return address.find('@') == std::string::npos ? mask_address(path)
                                                : path.substr(0, begin) + mask_address(address);
}

constexpr std::string_view id_header = "X-Request-Id";

} // namespace

request_service::request_service(const listener_options& options, body_budget& budget, logger& log,
                                 http_server::handler handle)
    : options_(options), budget_(budget), log_(log), handle_(std::move(handle)),
      id_prefix_(random_prefix()) {}

std::string request_service::new_id() {
  return id_prefix_ + hexadecimal(ids_.fetch_add(1));
}

std::string request_service::id_for(const request_head& head) {
  for (const auto& [name, value] : head.headers)
    if (is_same_ascii(name, id_header) && is_sane_id(value))
      return value;
  return new_id();
}

void request_service::answer(connection& from, answerer& writer,
                             const std::atomic<bool>& is_stopping) {
  auto began = boot_clock::now();
  auto refusal = from.take_refusal();
  const auto& head = from.head();
  bool closes = refusal || head.closes;
  entry line{id_for(head), head.method, head.target.substr(0, head.target.find('?')),
             from.address()};
  // A request that was not understood is answered as if it were the simplest one.
  std::string method = head.method.empty() ? "GET" : head.method;
  std::string target = head.target.empty() ? "/" : head.target;
  auto produce = [this, &from, &refusal, &line, &closes,
                  &is_stopping](answerer::target of_request) {
    auto response = refusal ? std::move(*refusal) : serve(from, line.id, std::move(of_request));
    response.headers.emplace_back(id_header, line.id);
    name_request(response, line.id);
    line.status = response.status;
    if (!closes && is_stopping.load()) {
      response.headers.emplace_back("Connection", "close");
      closes = true;
    }
    return response;
  };
  auto bytes = writer.answer(method, target, closes, produce);
  auto now = boot_clock::now();
  bool is_nothing = bytes.empty();
  from.send(std::move(bytes), closes || is_nothing, now);
  line.milliseconds = std::chrono::duration<double, std::milli>(now - began).count();
  answered_.fetch_add(1, std::memory_order_relaxed);
  if (line.status == 413 || line.status == 414 || line.status == 431)
    too_large_.fetch_add(1, std::memory_order_relaxed);
  write_log(line);
}

std::string request_service::no_room(answerer& writer) {
  return writer.answer("GET", "/", true, [this](answerer::target) {
    auto full = problem(503, "overloaded", "Too many connections; try again soon.");
    const auto id = new_id();
    full.headers.emplace_back("Retry-After", "1");
    full.headers.emplace_back(id_header, id);
    name_request(full, id);
    return full;
  });
}

http_response request_service::serve(connection& from, const std::string& id,
                                     answerer::target target) {
  auto& head = from.head();
  auto& body = from.body();
  if (head.gzip && head.has_body()) {
    stored_body unpacked(budget_, options_.max_body);
    if (auto wrong = unpack_gzip(body.text(), unpacked))
      return std::move(*wrong);
    body.swap(unpacked);
  }
  http_request request;
  request.id = id;
  request.method = std::move(head.method);
  request.path = std::move(target.path);
  request.query = std::move(target.query);
  request.headers = std::move(head.headers);
  request.body = body.take();
  request.peer = from.address();
  return call_handler(request);
}

http_response request_service::call_handler(const http_request& request) {
  std::string what = "something that is no std::exception";
  try {
    return handle_(request);
  } catch (const std::exception& thrown) {
    what = thrown.what();
  } catch (...) {
  }
  log_.event(log_level::error, "HTTP_HANDLER_FAILED",
             {{"listener", options_.name}, {"request_id", request.id}, {"error", what}});
  return problem(500, "internal",
                 "The request failed on our side; its id in our log is " + request.id + ".");
}

void request_service::write_log(const entry& line) {
  auto level = line.status >= 500 ? log_level::warn : log_level::debug;
  if (!log_.is_enabled(level))
    return;
  constexpr std::size_t longest_path = 200;
  log_.event(level, "HTTP_REQUEST",
             {{"listener", options_.name},
              {"request_id", line.id},
              {"method", line.method},
              {"path", loggable(line.path).substr(0, longest_path)},
              {"status", line.status},
              {"ms", line.milliseconds},
              {"peer", line.peer}});
}

} // namespace paceline
