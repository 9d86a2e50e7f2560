#include "transport/aws/signed_request.hpp"

#include <array>
#include <utility>

#include "transport/aws/aws_time.hpp"
#include "transport/http/ascii.hpp"

namespace paceline {

std::string aws_endpoint(std::string_view host_prefix, std::string_view region) {
  auto url = "https://" + std::string{host_prefix} + "." + std::string{region} + ".amazonaws.com";
  if (region.starts_with("cn-"))
    url += ".cn";
  return url;
}

request_maker::request_maker(std::string_view endpoint, std::string region, std::string service)
    : url_(ascii_lower(endpoint)), signer_(std::move(region), std::move(service)) {
  while (url_.ends_with('/'))
    url_.pop_back();
  const auto scheme = url_.find("://");
  host_ = scheme == std::string::npos ? url_ : url_.substr(scheme + 3);
  // The scheme's own port is not sent.
  if (url_.starts_with("https://") && host_.ends_with(":443"))
    host_.resize(host_.size() - 4);
  else if (url_.starts_with("http://") && host_.ends_with(":80"))
    host_.resize(host_.size() - 3);
}

outgoing_request request_maker::make(aws_call what, const aws_credentials& keys,
                                     std::int64_t unix_seconds) {
  const auto date = amz_date(unix_seconds);
  std::array<header_to_sign, 4> headers;
  std::size_t count = 0;
  headers[count++] = {"host", host_};
  headers[count++] = {"x-amz-date", date};
  if (!what.content_type.empty())
    headers[count++] = {"content-type", what.content_type};
  if (!keys.session_token.empty())
    headers[count++] = {"x-amz-security-token", keys.session_token};
  request_to_sign plain;
  plain.method = what.method;
  plain.target = what.target;
  plain.headers = {headers.data(), count};
  const auto hash = signer_.hash(what.body);
  plain.body_hash = hash;
  const auto authorization = signer_.authorize(plain, keys, date);

  outgoing_request made;
  made.url = url_ + what.target;
  made.headers.reserve(count + 1);
  for (const auto& [name, value] : plain.headers.subspan(1)) // Host is libcurl's own
    made.headers.push_back(std::string{name} + ": " + std::string{value});
  made.headers.push_back("Authorization: " + authorization);
  made.method = std::move(what.method);
  made.body = std::move(what.body);
  return made;
}

} // namespace paceline
