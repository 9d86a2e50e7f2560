#include "transport/outgoing/http_exchange.hpp"

#include <algorithm>
#include <utility>

#include "transport/http/ascii.hpp"

namespace paceline {
namespace {

constexpr std::size_t max_headers = 100;
constexpr std::size_t max_header_octets = 32 << 10;
/// Room for the lines that begin and end an answer, and for interim answers (RFC 9110 15.2).
constexpr std::size_t max_header_lines = max_headers + 32;

constexpr bool is_token(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
         || std::string_view{"!#$%&'*+-.^_`|~"}.find(c) != std::string_view::npos;
}

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return is_token(c); });
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  auto first = text.find_first_not_of(blanks);
  if (first == text.npos)
    return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

bool is_header(const std::string& line, std::string_view name) {
  return line.size() > name.size() && line[name.size()] == ':'
         && is_same_ascii(std::string_view{line}.substr(0, name.size()), name);
}

} // namespace

std::string complaint_about(const outgoing_request& what) {
  constexpr std::string_view breaks{"\r\n\0", 3};
  if (!is_token(what.method))
    return "method: is no HTTP method; use GET, POST or the like";
  if (what.url.find_first_of(breaks) != std::string::npos)
    return "url: has a line break or NUL; encode it";
  for (const auto& line : what.headers) {
    auto colon = line.find(':');
    if (colon == std::string::npos || !is_token(std::string_view{line}.substr(0, colon)))
      return "headers: a line does not begin with a name and a colon";
    if (line.find_first_of(breaks) != std::string::npos)
      return "headers: the value of " + line.substr(0, colon) + " has a line break or NUL";
  }
  return {};
}

bool http_exchange::append(const char* line) {
  auto* longer = curl_slist_append(headers_.get(), line);
  if (!longer)
    return false;
  [[maybe_unused]] auto* same = headers_.release();
  headers_.reset(longer);
  return true;
}

/// libcurl reads `Name:` as an order to leave its own header out and `Name;` as an empty one.
bool http_exchange::list_headers() {
  bool has_type = false;
  for (const auto& line : request_.headers) {
    auto colon = line.find(':');
    has_type = has_type || is_header(line, "Content-Type");
    bool is_empty = trimmed(std::string_view{line}.substr(colon + 1)).empty();
    if (!append(is_empty ? (line.substr(0, colon) + ";").c_str() : line.c_str()))
      return false;
  }
  // It would wait for "100 Continue" before long bodies and call all bodies forms.
  return append("Expect:") && (has_type || append("Content-Type:"));
}

void http_exchange::set_method(CURL* handle) const {
  if (request_.method == "HEAD") {
    curl_easy_setopt(handle, CURLOPT_NOBODY, 1L);
    return;
  }
  if (request_.method == "GET" && request_.body.empty()) {
    curl_easy_setopt(handle, CURLOPT_HTTPGET, 1L);
    return;
  }
  curl_easy_setopt(handle, CURLOPT_POST, 1L);
  curl_easy_setopt(handle, CURLOPT_POSTFIELDS, request_.body.data());
  curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE,
                   static_cast<curl_off_t>(request_.body.size()));
  if (request_.method != "POST")
    curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, request_.method.c_str());
}

bool http_exchange::set_up(CURL* handle) {
  if (!list_headers())
    return false;
  set_method(handle);
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers_.get());
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, &http_exchange::take_header);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, &http_exchange::take_body);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, this);
  return true;
}

std::size_t http_exchange::take_header(char* line, std::size_t, std::size_t size, void* self) {
  return static_cast<http_exchange*>(self)->add_header({line, size}) ? size : 0;
}

bool http_exchange::add_header(std::string_view line) {
  header_octets_ += line.size();
  if (++header_lines_ > max_header_lines || header_octets_ > max_header_octets)
    return false;
  if (line.starts_with("HTTP/")) { // the final answer's headers replace those of interim ones
    result_.headers.clear();
    has_whole_head_ = false;
    return true;
  }
  has_whole_head_ = has_whole_head_ || trimmed(line).empty();
  auto colon = line.find(':');
  if (colon == line.npos)
    return true;
  if (result_.headers.size() == max_headers)
    return false;
  result_.headers.emplace_back(trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1)));
  return true;
}

std::size_t http_exchange::take_body(char* octets, std::size_t, std::size_t size, void* self) {
  auto& body = static_cast<http_exchange*>(self)->result_.body;
  if (body.size() + size > http_client::max_answer)
    return 0;
  body.append(octets, size);
  return size;
}

http_result http_exchange::take(CURL* handle, const transfer_result& ended) {
  result_.end = ended.end;
  result_.diagnostic = ended.diagnostic;
  result_.bad_certificate = ended.bad_certificate;
  if (ended.end == transfer_end::answered) {
    long status = 0;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    result_.status = static_cast<int>(status);
    if (!has_whole_head_ || status < 200) { // libcurl is content with less
      result_.end = transfer_end::lost;
      result_.status = 0;
      result_.diagnostic = "the connection ended within the head of the answer";
    }
  }
  return std::move(result_);
}

} // namespace paceline
