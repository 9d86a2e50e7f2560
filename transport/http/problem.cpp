#include "transport/http/problem.hpp"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

namespace paceline {
namespace {

using json_writer = rapidjson::Writer<rapidjson::StringBuffer>;

void write(json_writer& json, std::string_view text) {
  json.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

void write(json_writer& json, std::string_view name, std::string_view text) {
  json.Key(name.data(), static_cast<rapidjson::SizeType>(name.size()));
  write(json, text);
}

/// The status in words (RFC 9110, section 15), which RFC 9457 asks for where `type` is no page.
std::string_view title(int status) {
  switch (status) {
  case 400:
    return "Bad Request";
  case 401:
    return "Unauthorized";
  case 403:
    return "Forbidden";
  case 404:
    return "Not Found";
  case 405:
    return "Method Not Allowed";
  case 408:
    return "Request Timeout";
  case 409:
    return "Conflict";
  case 413:
    return "Content Too Large";
  case 414:
    return "URI Too Long";
  case 415:
    return "Unsupported Media Type";
  case 417:
    return "Expectation Failed";
  case 422:
    return "Unprocessable Content";
  case 429:
    return "Too Many Requests";
  case 431:
    return "Request Header Fields Too Large";
  case 500:
    return "Internal Server Error";
  case 501:
    return "Not Implemented";
  case 503:
    return "Service Unavailable";
  case 505:
    return "HTTP Version Not Supported";
  default:
    return status < 500 ? "Request Refused" : "Server Error";
  }
}

} // namespace

http_response problem(int status, std::string_view type, std::string_view detail,
                      const std::vector<field_problem>& fields) {
  rapidjson::StringBuffer text;
  json_writer json(text);
  json.StartObject();
  write(json, "type", type);
  write(json, "title", title(status));
  json.Key("status");
  json.Int(status);
  write(json, "detail", detail);
  if (!fields.empty()) {
    json.Key("errors");
    json.StartArray();
    for (const auto& each : fields) {
      json.StartObject();
      write(json, "pointer", each.pointer);
      write(json, "detail", each.detail);
      json.EndObject();
    }
    json.EndArray();
  }
  json.EndObject();
  return {status, "application/problem+json", std::string(text.GetString(), text.GetSize()), {}};
}

void name_request(http_response& answer, std::string_view id) {
  if (answer.content_type != "application/problem+json" || !answer.body.ends_with('}')
      || answer.body.find("\"request_id\":") != std::string::npos)
    return;
  answer.body.pop_back();
  answer.body.append(",\"request_id\":\"").append(id).append("\"}");
}

} // namespace paceline
