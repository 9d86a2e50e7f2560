/// AWS credentials, and where each source keeps them. Pure: text comes in, credentials come out.
/// Who fetches the text is `credentials_chain.hpp`.
///
/// Nothing here is ever logged, shown or put into an error: errors name the variable, the profile
/// or the member that is wrong, never its value.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "storage/result.hpp"

namespace paceline {

struct aws_credentials {
  std::string access_key;
  std::string secret_key;
  std::string session_token;           ///< empty: lasting credentials
  std::optional<std::int64_t> expires; ///< seconds since 1970; nothing: never
};

/// A variable of the environment; nothing where it is not set.
using environment_function = std::function<std::optional<std::string>(const std::string& name)>;
/// The process's own environment. Not while somebody changes it.
std::optional<std::string> process_environment(const std::string& name);

/// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN. Nothing where neither key is
/// set; error `invalid` where only one is.
result<std::optional<aws_credentials>> read_environment(const environment_function& environment);

/// `[profile]` of a credentials file in its INI form: `aws_access_key_id`, `aws_secret_access_key`,
/// `aws_session_token`. Nothing where the file has no such profile; error `invalid` where a key is
/// missing or the profile wants what is not done here (role_arn, credential_process, sso).
result<std::optional<aws_credentials>> read_credentials_file(std::string_view text,
                                                             std::string_view profile);

/// The JSON that the ECS agent and the EC2 metadata service answer with. Error `invalid` where it
/// has no credentials, with the service's own code where it gives one.
result<aws_credentials> read_credentials_json(std::string_view body);

/// Where a container gets its credentials, and what it must show for them.
struct container_source {
  std::string url;
  std::string token;      ///< value of Authorization; empty: none
  std::string token_file; ///< read anew for each request, in place of `token`; empty: none
};
/// From AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or _FULL_URI, AWS_CONTAINER_AUTHORIZATION_TOKEN or
/// _TOKEN_FILE. Nothing where no URI is set. Error `invalid` for a full URI that is neither https
/// nor a loopback address or one of the agents' own (169.254.170.2, 169.254.170.23, fd00:ec2::23).
result<std::optional<container_source>> read_container_source(
    const environment_function& environment);

/// A token as a header may carry it: without the line end that files have. Error `invalid` where it
/// has line breaks inside.
result<std::string> read_container_token(std::string_view text);

/// Keys come with what editors and shells leave around them; all that is odd is refused here, so
/// that no header is made of it. Error `invalid` names `where`.
result<aws_credentials> checked_credentials(aws_credentials keys, std::string_view where);

} // namespace paceline
