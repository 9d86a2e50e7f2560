#include "transport/api/service.hpp"

#include <algorithm>
#include <semaphore>
#include <vector>

#include "storage/streams.hpp"
#include "transport/api/answers.hpp"
#include "transport/api/once.hpp"
#include "transport/http/ascii.hpp"
#include "transport/http/problem.hpp"

namespace paceline {
namespace {

/// How long a list waits for others to end: shorter than anybody would notice.
constexpr std::chrono::milliseconds list_wait{100};

std::vector<route_shape> shapes_of(std::span<const api_route> routes) {
  std::vector<route_shape> shapes;
  for (const auto& route : routes)
    shapes.push_back(route.shape);
  return shapes;
}

} // namespace

class api_service::impl {
public:
  impl(const api_options& options, database_pool& pool, wake_route_function wake,
       health_function health_now, logger& log)
      : instruments_(options.instruments), links_(options.links),
        lists_(std::max(1, pool.connections() - 1)), wake_(std::move(wake)),
        health_now_(std::move(health_now)), database_(pool, options.database_wait),
        ids_(options.id_lane), intake_(pool, ids_, intake_options(options)),
        keys_([this](key_id id) { return find(id); },
              [this](std::vector<key_id> used) { note(std::move(used)); }),
        routes_([this](const std::string& environment) { return find_all(environment); },
                [this](route_id route, project_id project, std::int16_t priority) {
                  return find_stream(route, project, priority);
                }),
        outstanding_([this](project_id of, const std::string& in) { return ask(of, in); },
                     [this](project_id of, const std::string& in,
                            outstanding_limits::answer_function answered) {
                       return start_asking(of, in, std::move(answered));
                     }),
        parts_{database_,   ids_,   campaign_ids_,  intake_,     keys_,
               routes_,     rates_, outstanding_,   in_work_,    wake_,
               health_now_, log,    options.writer, links_.get()},
        shapes_(shapes_of(api_routes())) {}

  http_response answer(const http_request& request) {
    const auto begun = boot_clock::now();
    const auto found = find_route(shapes_, request.method, request.path);
    auto answered =
        found.index ? answer_on(api_routes()[*found.index], found, request) : refuse_path(found);
    if (instruments_.on_request)
      instruments_.on_request(found.index ? shapes_[*found.index].pattern : "unknown",
                              answered.status, boot_clock::now() - begun);
    return answered;
  }

private:
  http_response answer_on(const api_route& route, const routing& found,
                          const http_request& request) {
    if (route.scopes.empty())
      return route.answer(parts_, {request, nullptr, found.parameters});
    // Storing messages looks at the key itself, and reading may be a moment late.
    const auto key = authenticate(request, request.method != "GET" && !route.counts_messages);
    if (const auto* refused = std::get_if<http_response>(&key))
      return *refused;
    const auto& who = *std::get<known_key>(key);
    if (std::none_of(route.scopes.begin(), route.scopes.end(),
                     [&who](key_scope scope) { return who.may(scope); }))
      return refuse_scope(route);
    const auto wait = route.counts_messages ? rates_.wait_for(who, 1, boot_clock::now())
                                            : rates_.take(who, 1, boot_clock::now());
    if (wait > nanoseconds{0})
      return refuse_for_now(429, "rate_limited",
                            "The key may make " + std::to_string(*who.limit_per_minute)
                                + " requests or hand in as many messages in any 60 seconds.",
                            wait);
    return route.reads_many ? read_list(route, {request, &who, found.parameters})
                            : route.answer(parts_, {request, &who, found.parameters});
  }

  /// Lists are heavy, and one key could hold all threads and connections with them.
  http_response read_list(const api_route& route, const api_call& call) {
    if (!lists_.try_acquire_for(list_wait))
      return refuse_for_now(503, "overloaded", "Too many lists are being read; try again.",
                            std::chrono::seconds{1});
    struct place {
      std::counting_semaphore<>& of;
      ~place() { of.release(); }
    } const mine{lists_};
    return route.answer(parts_, call);
  }

  using known_key = std::shared_ptr<const api_key>;

  static intake_desk_options intake_options(const api_options& from) {
    intake_desk_options to;
    to.statements = from.intake_statements;
    to.most_calls = from.most_waiting_calls;
    to.most_bytes = from.most_waiting_bytes;
    to.store_patience = from.database_wait;
    to.doubt_patience = from.doubt_patience;
    to.on_statement = from.instruments.on_intake;
    return to;
  }

  static http_response refuse_path(const routing& found) {
    if (found.allow.empty())
      return problem(404, "not_found", "There is no such path. See docs/openapi.yaml.");
    auto answer = problem(405, "method_not_allowed", "This path allows " + found.allow + ".");
    answer.headers.emplace_back("Allow", found.allow);
    return answer;
  }

  static http_response refuse_scope(const api_route& route) {
    std::string names;
    for (const auto scope : route.scopes)
      names += (names.empty() ? "" : " or ") + std::string{name(scope)};
    return problem(403, "scope_missing", "The API key needs the scope " + names + ".");
  }

  std::variant<known_key, http_response> authenticate(const http_request& request,
                                                      bool looks_again) {
    constexpr std::string_view scheme = "bearer ";
    const auto header = request.header("Authorization");
    if (!header || request.count("Authorization") != 1)
      return refuse_key("Send the API key as `Authorization: Bearer pl_...`, once.");
    const bool is_bearer =
        header->size() > scheme.size() && is_same_ascii(header->substr(0, scheme.size()), scheme);
    const auto token =
        is_bearer ? parse_token(header->substr(scheme.size())) : std::optional<parsed_token>{};
    if (!token)
      return refuse_key("This is no API key: it looks like `Bearer pl_<id>_<43 characters>`.");
    if (looks_again)
      keys_.look_again(token->key);
    auto key = keys_.authenticate(*token, boot_clock::now());
    if (!key)
      return refuse_error(parts_, {request, nullptr, no_parameters_}, key.failure());
    if (!*key)
      return refuse_key("The API key is unknown, revoked or expired.");
    return std::move(*key);
  }

  result<api_key> find(key_id id) {
    return database_.run([id](session& on) { return find_key(on, id); });
  }
  void note(std::vector<key_id> used) {
    // A use that can't be noted is noted with the next one.
    (void)database_.start([used = std::move(used)](session* on, const error&) {
      if (on != nullptr)
        (void)touch_keys(*on, used);
    });
  }
  result<std::vector<route_choice>> find_all(const std::string& environment) {
    return database_.run([&environment](session& on) { return find_routes(on, environment); });
  }
  result<stream_id> find_stream(route_id route, project_id project, std::int16_t priority) {
    return database_.run([route, project, priority](session& on) {
      return direct_stream(on, route, project, priority);
    });
  }
  result<std::int64_t> ask(project_id project, const std::string& environment) {
    return database_.run([project, &environment](session& on) {
      return outstanding_messages(on, project, environment);
    });
  }
  bool start_asking(project_id project, std::string environment,
                    outstanding_limits::answer_function answered) {
    return database_.start([project, environment = std::move(environment),
                            answered = std::move(answered)](session* on, const error& why) {
      answered(on == nullptr ? result<std::int64_t>{why}
                             : outstanding_messages(*on, project, environment));
    });
  }

  const api_instruments instruments_;
  const std::shared_ptr<const unsubscribe_links> links_;
  std::counting_semaphore<> lists_; ///< one less than the pool has connections
  const wake_route_function wake_;
  const health_function health_now_;
  database_calls database_;
  id_desk ids_;
  lent_ids campaign_ids_;
  intake_desk intake_;
  key_cache keys_;
  route_choices routes_;
  rate_limits rates_;
  keys_in_work in_work_;
  outstanding_limits outstanding_;
  api_parts parts_;
  const std::vector<route_shape> shapes_;
  const std::vector<std::string> no_parameters_;
};

api_service::api_service(const api_options& options, database_pool& pool, wake_route_function wake,
                         health_function health_now, logger& log)
    : impl_(std::make_unique<impl>(options, pool, std::move(wake), std::move(health_now), log)) {}

api_service::~api_service() = default;

http_response api_service::answer(const http_request& request) {
  auto answer = impl_->answer(request);
  name_request(answer, request.id);
  // So that a shell's prompt is not stuck to it. What is stored for repeated requests is without.
  if (answer.body.ends_with('}'))
    answer.body += '\n';
  return answer;
}

} // namespace paceline
