#include "transport/http/answerer.hpp"

#include <httplib.h>

#include <algorithm>
#include <cstring>

#include "transport/http/problem.hpp"

namespace paceline {
namespace {

/// What the library takes for a connection.
class memory_stream final : public httplib::Stream {
public:
  explicit memory_stream(std::string_view input) : input_(input) {}

  bool is_readable() const override { return !input_.empty(); }
  bool is_writable() const override { return true; }

  ssize_t read(char* into, size_t size) override {
    auto count = std::min(size, input_.size());
    std::memcpy(into, input_.data(), count);
    input_.remove_prefix(count);
    return static_cast<ssize_t>(count);
  }

  ssize_t write(const char* bytes, size_t size) override {
    output.append(bytes, size);
    return static_cast<ssize_t>(size);
  }

  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  /// The library refuses numbers that do not fit into a `select`; it never uses it on ours.
  socket_t socket() const override { return 0; }

  std::string output;

private:
  std::string_view input_;
};

} // namespace

class answerer::library final : private httplib::Server {
public:
  library() {
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      fill(response,
           (*produce_)(target{request.path, {request.params.begin(), request.params.end()}}));
      return HandlerResponse::Handled;
    });
    // What the library refuses by itself, should our checks ever let it come so far.
    HandlerWithResponse explain = [](const httplib::Request&, httplib::Response& response) {
      if (!response.body.empty())
        return HandlerResponse::Unhandled;
      fill(response, problem(response.status, "malformed_request", "The request is malformed."));
      return HandlerResponse::Handled;
    };
    set_error_handler(std::move(explain));
    set_post_routing_handler([](const httplib::Request&, httplib::Response& response) {
      response.headers.erase("Keep-Alive");
      response.headers.erase("Accept-Ranges");
      if (response.status == 204 || response.status == 304)
        response.headers.erase("Content-Length");
    });
  }

  std::string answer(std::string_view method, std::string_view raw_target, bool closes,
                     const producer& produce) {
    std::string head;
    head.reserve(method.size() + raw_target.size() + 16);
    head.append(method).append(" ").append(raw_target).append(" HTTP/1.1\r\n\r\n");
    memory_stream stream(head);
    produce_ = &produce;
    bool closed = closes;
    process_request(stream, closes, closed, nullptr);
    produce_ = nullptr;
    return std::move(stream.output);
  }

private:
  static void fill(httplib::Response& to, http_response from) {
    to.status = from.status;
    to.body = std::move(from.body);
    if (!to.body.empty())
      to.set_header("Content-Type", from.content_type);
    // The library drops values with line breaks, so that nobody can add headers through one.
    for (const auto& [name, value] : from.headers)
      to.set_header(name, value);
  }

  const producer* produce_ = nullptr;
};

answerer::answerer() : library_(std::make_unique<library>()) {}

answerer::~answerer() = default;

std::string answerer::answer(std::string_view method, std::string_view raw_target, bool closes,
                             const producer& produce) {
  return library_->answer(method, raw_target, closes, produce);
}

} // namespace paceline
