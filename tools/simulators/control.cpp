#include "tools/simulators/control.hpp"

#include <sys/resource.h>

#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "config/text.hpp"

namespace paceline::simulators {
namespace {

std::int64_t cpu_microseconds() {
  rusage use{};
  ::getrusage(RUSAGE_SELF, &use);
  return (use.ru_utime.tv_sec + use.ru_stime.tv_sec) * std::int64_t{1'000'000}
         + use.ru_utime.tv_usec + use.ru_stime.tv_usec;
}

/// Everything a request wants changed, read before any of it is.
class wish {
public:
  explicit wish(const simulation& now)
      : rate_(now.options().rate), tolerance_(now.options().tolerance),
        latency_ms_(now.options().latency_ms), jitter_(now.options().jitter),
        daily_quota_(static_cast<double>(now.options().daily_quota)),
        connect_ms_(now.options().connect_ms),
        hang_ms_(std::chrono::duration<double, std::milli>{now.hang()}.count()) {}

  /// Empty, or what is wrong with the field; nothing where it isn't known.
  std::optional<std::string> take(std::string_view name, const rapidjson::Value& value) {
    if (name == "rate" || name == "tolerance")
      changes_rate_ = true;
    for (const auto& [known, place, least, most] :
         {number{"rate", &rate_, 0.001, 1e6}, number{"tolerance", &tolerance_, 0.1, 1e6},
          number{"latency_ms", &latency_ms_, 0, 600'000}, number{"jitter", &jitter_, 0, 1},
          number{"daily_quota", &daily_quota_, 0, 1e12},
          number{"connect_ms", &connect_ms_, 0, 60'000}, number{"hang_ms", &hang_ms_, 0, 600'000},
          number{"share", &fault_.share, 0, 1}})
      if (name == known)
        return take_number(known, value, *place, least, most);
    if (name == "fault")
      return take_fault(value);
    if (name == "for")
      return take_concerned(value);
    if (name == "reused_only") {
      if (!value.IsBool())
        return "reused_only: true or false";
      fault_.reused_only = value.GetBool();
      return "";
    }
    return std::nullopt;
  }

  void apply(simulation& to) const {
    if (changes_rate_)
      to.set_rate(rate_, tolerance_, std::chrono::steady_clock::now());
    to.set_latency(latency_ms_, jitter_);
    to.set_connect(connect_ms_);
    to.set_daily_quota(static_cast<std::int64_t>(daily_quota_));
    to.set_hang(std::chrono::duration_cast<nanoseconds>(
        std::chrono::duration<double, std::milli>{hang_ms_}));
    if (changes_fault_)
      to.set_fault(fault_);
  }

private:
  struct number {
    const char* name;
    double* place;
    double least, most;
  };

  static std::string take_number(const char* name, const rapidjson::Value& value, double& place,
                                 double least, double most) {
    if (!value.IsNumber() || value.GetDouble() < least || value.GetDouble() > most)
      return std::string{name} + ": a number from " + std::to_string(least) + " to "
             + std::to_string(most);
    place = value.GetDouble();
    return "";
  }

  std::string take_fault(const rapidjson::Value& value) {
    const auto what = value.IsString() ? behaviour_named(value.GetString()) : std::nullopt;
    if (!what)
      return "fault: one of " + behaviour_names();
    fault_.what = *what;
    changes_fault_ = true;
    return "";
  }

  std::string take_concerned(const rapidjson::Value& value) {
    const std::string_view text = value.IsString() ? value.GetString() : "";
    if (text != "send" && text != "account" && text != "all")
      return "for: send, account or all";
    fault_.sends = text != "account";
    fault_.account = text != "send";
    return "";
  }

  double rate_, tolerance_, latency_ms_, jitter_, daily_quota_, connect_ms_, hang_ms_;
  active_fault fault_;
  bool changes_fault_ = false, changes_rate_ = false;
};

} // namespace

http_answer control_service::answer(http_request& what) {
  if (what.target != "/control")
    return json_answer(404, "{\"error\":\"there is only /control\"}\n");
  if (what.method == "GET")
    return json_answer(200, state_json());
  if (what.method != "POST")
    return json_answer(405, "{\"error\":\"GET or POST\"}\n");
  const auto wrong = change(what.body);
  if (!wrong.empty())
    return json_answer(400, "{\"error\":" + json_string(wrong) + "}\n");
  return json_answer(200, state_json());
}

/// Empty where all was changed.
std::string control_service::change(const std::string& body) {
  rapidjson::Document given;
  given.Parse(body.c_str(), body.size());
  if (given.HasParseError() || !given.IsObject())
    return "send a JSON object";
  wish wanted(what_);
  for (const auto& [name, value] : given.GetObject()) {
    auto wrong = wanted.take(name.GetString(), value);
    if (!wrong && own_ != nullptr && value.IsString())
      wrong = own_->set(name.GetString(), value.GetString(), false);
    if (!wrong)
      return std::string{name.GetString()} + ": there is no such field";
    if (!wrong->empty())
      return *wrong;
  }
  wanted.apply(what_);
  for (const auto& [name, value] : given.GetObject())
    if (own_ != nullptr && value.IsString())
      own_->set(name.GetString(), value.GetString(), true);
  return "";
}

std::string control_service::state_json() const {
  rapidjson::StringBuffer text;
  rapidjson::Writer<rapidjson::StringBuffer> json(text);
  const auto number = [&json](const char* name, double value) {
    json.Key(name);
    json.Double(value);
  };
  json.StartObject();
  number("rate", what_.options().rate);
  number("tolerance", what_.options().tolerance);
  number("daily_quota", static_cast<double>(what_.options().daily_quota));
  number("latency_ms", what_.options().latency_ms);
  json.Key("fault");
  json.String(name_of(what_.fault().what).c_str());
  number("share", what_.fault().share);
  number("connections", static_cast<double>(connections_()));
  json.Key("cpu_us");
  json.Int64(cpu_microseconds());
  json.Key("counters");
  json.StartObject();
  for (const auto& [name, value] : what_.counters()) {
    json.Key(name.c_str());
    json.Int64(value);
  }
  json.EndObject();
  json.EndObject();
  return std::string{text.GetString()} + "\n";
}

} // namespace paceline::simulators
