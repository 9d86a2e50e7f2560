#include "transport/aws/credentials_chain.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <filesystem>

#include "config/text.hpp"
#include "transport/outgoing/http_client.hpp"

namespace paceline {
namespace {

using std::chrono::seconds;

constexpr std::int64_t ahead_s = 5 * 60; ///< renewed so long before they expire
constexpr auto file_age = seconds{300};
constexpr auto least_gap = seconds{1};
constexpr auto longest_wait = seconds{60};
constexpr std::size_t max_file = 1 << 20;
constexpr std::string_view session_age = "21600"; ///< of an IMDSv2 token: 6 h, the longest allowed

engine_options metadata_engine() {
  engine_options options;
  options.max_connections = 2;
  options.allow_private = true; // they are link-local
  options.connect_timeout = seconds{1};
  options.total_timeout = seconds{5};
  options.http2 = false;
  return options;
}

/// Nothing where there is no such file.
result<std::optional<std::string>> read_small_file(const std::string& path) {
  std::error_code code;
  if (!std::filesystem::exists(path, code) && !code)
    return std::optional<std::string>{};
  std::ifstream in{path, std::ios::binary};
  std::string text(max_file + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad() || (!in && in.gcount() == 0 && !in.eof()))
    return error{error_kind::unavailable, "can't read " + path};
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > max_file)
    return error{error_kind::invalid, path + " is larger than 1 MiB: it is no credentials file"};
  return std::optional{std::move(text)};
}

/// What a source said: credentials, nothing at all, or what is wrong.
using finding = result<std::optional<aws_credentials>>;

} // namespace

class credentials_chain::impl : public std::enable_shared_from_this<impl> {
public:
  impl(reactor& loop, credentials_options options)
      : loop_(loop), options_(std::move(options)), http_(loop, metadata_engine()) {}

  void look();
  void renew();
  const aws_credentials* current() const;

  std::string problem, origin;
  std::function<void()> looked;

private:
  bool wants(credentials_source which) const {
    return options_.source == credentials_source::automatic || options_.source == which;
  }
  std::string variable(const char* name) const { return options_.environment(name).value_or(""); }

  finding look_at_file();
  /// True: this source ends the look.
  bool take(const finding& found, std::string_view from);
  void ask_container(const container_source& source);
  void ask_instance();
  void ask_role(const std::string& token);
  void ask_keys(const std::string& token, const std::string& role);
  void ask(outgoing_request request, std::string_view whom,
           std::function<void(impl&, std::string body)> answered);
  void succeed(aws_credentials keys, std::string_view from);
  void fail(std::string why);
  void look_in(nanoseconds wait);

  reactor& loop_;
  credentials_options options_;
  http_client http_;
  std::optional<aws_credentials> keys_;
  bool is_looking_ = false;
  boot_instant last_look_{};
  std::uint64_t alarm_ = 0; ///< number of the only alarm that still matters
  int failures_ = 0;
  std::string metadata_; ///< where the instance's metadata are
};

const aws_credentials* credentials_chain::impl::current() const {
  return keys_ && (!keys_->expires || options_.wall() < *keys_->expires) ? &*keys_ : nullptr;
}

void credentials_chain::impl::look_in(nanoseconds wait) {
  loop_.at(loop_.now() + wait, [self = weak_from_this(), number = ++alarm_] {
    const auto alive = self.lock();
    if (alive && alive->alarm_ == number)
      alive->look();
  });
}

void credentials_chain::impl::renew() {
  if (!is_looking_)
    look_in(std::max<nanoseconds>(last_look_ + least_gap - loop_.now(), nanoseconds{0}));
}

void credentials_chain::impl::look() {
  if (is_looking_)
    return;
  is_looking_ = true;
  last_look_ = loop_.now();
  if (wants(credentials_source::environment)
      && take(read_environment(options_.environment), "the environment"))
    return;
  if (wants(credentials_source::file) && take(look_at_file(), "the credentials file"))
    return;
  if (wants(credentials_source::container)) {
    const auto source = read_container_source(options_.environment);
    if (!source)
      return fail(source.failure().text);
    if (*source)
      return ask_container(**source);
  }
  if (wants(credentials_source::instance))
    return ask_instance();
  switch (options_.source) {
  case credentials_source::environment:
    return fail("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set");
  case credentials_source::container:
    return fail("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI is not set: this is no ECS container with "
                "a task role");
  case credentials_source::file:
  case credentials_source::automatic:
  case credentials_source::instance:
    return fail("the credentials file is missing, or has no such profile");
  }
}

finding credentials_chain::impl::look_at_file() {
  auto path = options_.file.empty() ? variable("AWS_SHARED_CREDENTIALS_FILE") : options_.file;
  const bool is_asked_for = !path.empty();
  if (path.empty())
    path = "~/.aws/credentials";
  if (path.starts_with("~/")) {
    const auto home = variable("HOME");
    if (home.empty())
      return std::optional<aws_credentials>{};
    path = home + path.substr(1);
  }
  const auto text = read_small_file(path);
  if (!text)
    return text.failure();
  if (!*text) {
    if (is_asked_for)
      return error{error_kind::not_found, "there is no credentials file " + path};
    return std::optional<aws_credentials>{};
  }
  const auto named = variable("AWS_PROFILE");
  const auto& profile = options_.profile == "default" && !named.empty() ? named : options_.profile;
  return read_credentials_file(**text, profile);
}

bool credentials_chain::impl::take(const finding& found, std::string_view from) {
  if (!found) {
    fail(found.failure().text);
    return true;
  }
  if (*found)
    succeed(**found, from);
  return found->has_value();
}

// The two services ------------------------------------------------------------

/// `answered` gets the body of a 200; everything else ends the look.
void credentials_chain::impl::ask(outgoing_request request, std::string_view whom,
                                  std::function<void(impl&, std::string body)> answered) {
  http_.send(
      std::move(request), [] { return true; },
      [self = weak_from_this(), whom = std::string{whom},
       answered = std::move(answered)](http_result came) {
        const auto alive = self.lock();
        if (!alive)
          return;
        if (came.end != transfer_end::answered)
          alive->fail(whom + " can't be reached: " + printable(came.diagnostic));
        else if (came.status != 200)
          alive->fail(whom + " answered " + std::to_string(came.status));
        else
          answered(*alive, std::move(came.body));
      });
}

void credentials_chain::impl::ask_container(const container_source& source) {
  auto token = source.token;
  if (!source.token_file.empty()) {
    const auto text = read_small_file(source.token_file);
    if (!text || !*text)
      return fail("can't read AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE " + source.token_file);
    auto checked = read_container_token(**text);
    if (!checked)
      return fail(checked.failure().text);
    token = std::move(*checked);
  }
  outgoing_request request{"GET", source.url, {"Accept: application/json"}, {}};
  if (!token.empty())
    request.headers.push_back("Authorization: " + token);
  ask(std::move(request), "the container's credentials service", [](impl& self, std::string body) {
    auto keys = read_credentials_json(body);
    keys ? self.succeed(std::move(*keys), "the container's role") : self.fail(keys.failure().text);
  });
}

/// IMDSv2: a session token first, then the role's name, then its keys.
void credentials_chain::impl::ask_instance() {
  if (variable("AWS_EC2_METADATA_DISABLED") == "true")
    return fail("found no AWS credentials in the environment, the credentials file or the "
                "container, and AWS_EC2_METADATA_DISABLED is set");
  metadata_ = variable("AWS_EC2_METADATA_SERVICE_ENDPOINT");
  if (metadata_.empty())
    metadata_ = "http://169.254.169.254";
  while (metadata_.ends_with('/'))
    metadata_.pop_back();
  ask({"PUT",
       metadata_ + "/latest/api/token",
       {"X-aws-ec2-metadata-token-ttl-seconds: " + std::string{session_age}},
       {}},
      options_.source == credentials_source::automatic
          ? "found no AWS credentials in the environment, the credentials file or the container, "
            "and the instance metadata service"
          : "the instance metadata service",
      [](impl& self, std::string body) {
        const auto token = read_container_token(body);
        token ? self.ask_role(*token) : self.fail(token.failure().text);
      });
}

void credentials_chain::impl::ask_role(const std::string& token) {
  ask({"GET",
       metadata_ + "/latest/meta-data/iam/security-credentials/",
       {"X-aws-ec2-metadata-token: " + token},
       {}},
      "the instance's list of roles", [token](impl& self, std::string body) {
        const auto role = body.substr(0, body.find_first_of("\r\n"));
        const auto is_odd = [](char c) { return c <= ' ' || c > '~' || c == '/' || c == '?'; };
        if (role.empty() || std::any_of(role.begin(), role.end(), is_odd))
          return self.fail("the instance has no role: attach an instance profile");
        self.ask_keys(token, role);
      });
}

void credentials_chain::impl::ask_keys(const std::string& token, const std::string& role) {
  ask({"GET",
       metadata_ + "/latest/meta-data/iam/security-credentials/" + role,
       {"X-aws-ec2-metadata-token: " + token},
       {}},
      "the instance's role", [](impl& self, std::string body) {
        auto keys = read_credentials_json(body);
        keys ? self.succeed(std::move(*keys), "the instance's role")
             : self.fail(keys.failure().text);
      });
}

// The end of a look -----------------------------------------------------------

void credentials_chain::impl::succeed(aws_credentials keys, std::string_view from) {
  is_looking_ = false;
  failures_ = 0;
  problem.clear();
  origin = from;
  keys_ = std::move(keys);
  if (keys_->expires) {
    const auto left = *keys_->expires - options_.wall();
    if (left <= 0)
      problem = "the credentials of " + origin + " have expired, or this machine's clock is ahead";
    // A service may hand out the old ones until shortly before they expire.
    look_in(std::max<nanoseconds>(seconds{left - ahead_s}, longest_wait));
  } else if (from == "the credentials file") {
    look_in(file_age);
  }
  if (looked)
    looked();
}

void credentials_chain::impl::fail(std::string why) {
  is_looking_ = false;
  problem = std::move(why);
  const auto wait = std::min<nanoseconds>(seconds{1LL << std::min(failures_, 6)}, longest_wait);
  ++failures_;
  look_in(wait);
  if (looked)
    looked();
}

// -----------------------------------------------------------------------------

credentials_chain::credentials_chain(reactor& loop, credentials_options options)
    : impl_(std::make_shared<impl>(loop, std::move(options))) {
  impl_->look();
}

credentials_chain::~credentials_chain() = default;

const aws_credentials* credentials_chain::current() const {
  return impl_->current();
}

const std::string& credentials_chain::problem() const {
  return impl_->problem;
}

const std::string& credentials_chain::origin() const {
  return impl_->origin;
}

void credentials_chain::renew() {
  impl_->renew();
}

void credentials_chain::on_looked(std::function<void()> listener) {
  impl_->looked = std::move(listener);
}

} // namespace paceline
