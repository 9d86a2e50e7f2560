/// AWS credentials that stay good: found by the usual chain, renewed before they expire.
///
/// The chain is environment, credentials file, the ECS container's agent, the EC2 instance's
/// metadata service (IMDSv2); `automatic` takes the first that has any. Temporary credentials are
/// fetched again 5 minutes before they expire, while the old ones still work; a credentials file is
/// read again every 5 minutes. What goes wrong is told by `problem` and tried again after 1, 2, 4,
/// ... 60 s; nobody ever waits.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "config/settings.hpp"
#include "transport/aws/aws_time.hpp"
#include "transport/aws/credentials.hpp"
#include "transport/providers/provider.hpp"

namespace paceline {

struct credentials_options {
  credentials_source source = credentials_source::automatic;
  std::string file;                ///< empty: AWS_SHARED_CREDENTIALS_FILE or ~/.aws/credentials
  std::string profile = "default"; ///< with `default`, AWS_PROFILE names another
  environment_function environment = process_environment;
  wall_clock_function wall = unix_seconds_now;
};

/// On the reactor's thread, as everything it calls. Reading a credentials file is the only thing
/// that touches a disk: once in 5 minutes, at most 1 MiB.
class credentials_chain {
public:
  /// Starts looking at once; environment and file are there when this returns. `loop` outlives it.
  credentials_chain(reactor& loop, credentials_options options);
  ~credentials_chain();
  credentials_chain(const credentials_chain&) = delete;
  credentials_chain& operator=(const credentials_chain&) = delete;

  /// Null while there are none, or only expired ones. Valid until the reactor goes on.
  const aws_credentials* current() const;
  /// Why there are none, or why they could not be renewed; empty if all is well. No secrets.
  const std::string& problem() const;
  /// Where the present ones come from, for people: `the credentials file`. Empty without any.
  const std::string& origin() const;

  /// Looks again at once, or a second after the last time: the provider refuses the present ones.
  void renew();
  /// Called after every look, whatever came of it. One listener; set it before the reactor goes on.
  void on_looked(std::function<void()> listener);

private:
  class impl;
  std::shared_ptr<impl> impl_; ///< shared so that timers can see that it is gone
};

} // namespace paceline
