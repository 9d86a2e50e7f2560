/// Requests to one AWS service, signed. Pure: keys and time come in.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "transport/aws/credentials.hpp"
#include "transport/aws/sigv4.hpp"
#include "transport/outgoing/http_client.hpp"

namespace paceline {

/// What is asked of the service, before it is signed.
struct aws_call {
  std::string method = "POST";
  std::string target;       ///< path and query, percent-encoded as sent
  std::string content_type; ///< empty: no body
  std::string body;
};

/// `https://SERVICE.REGION.amazonaws.com`, in China with `.cn` behind it.
std::string aws_endpoint(std::string_view host_prefix, std::string_view region);

/// One service in one region. Not thread-safe.
class request_maker {
public:
  /// `endpoint` is scheme, host and perhaps a port: `https://email.eu-west-1.amazonaws.com`.
  request_maker(std::string_view endpoint, std::string region, std::string service);

  outgoing_request make(aws_call what, const aws_credentials& keys, std::int64_t unix_seconds);
  /// The endpoint without a slash at its end.
  const std::string& url() const { return url_; }

private:
  std::string url_;
  std::string host_; ///< as libcurl writes the header Host
  sigv4_signer signer_;
};

} // namespace paceline
