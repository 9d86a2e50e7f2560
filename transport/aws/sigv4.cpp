#include "transport/aws/sigv4.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "transport/aws/credentials.hpp"
#include "transport/http/ascii.hpp"

namespace paceline {
namespace {

constexpr std::string_view algorithm = "AWS4-HMAC-SHA256";

constexpr bool is_unreserved(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'
         || c == '.' || c == '_' || c == '~';
}

void append_encoded(std::string& to, char octet) {
  static constexpr char digits[] = "0123456789ABCDEF";
  const auto value = static_cast<unsigned char>(octet);
  to += '%';
  to += digits[value >> 4];
  to += digits[value & 15];
}

int hex_value(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  const auto lower = ascii_lower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// RFC 3986, 5.2.4, and empty segments dropped.
std::string normalized_path(std::string_view path) {
  std::vector<std::string_view> kept;
  for (std::size_t at = 0; at < path.size();) {
    const auto end = std::min(path.find('/', at), path.size());
    const auto segment = path.substr(at, end - at);
    at = end + 1;
    if (segment == ".." && !kept.empty())
      kept.pop_back();
    else if (!segment.empty() && segment != "." && segment != "..")
      kept.push_back(segment);
  }
  std::string made;
  for (const auto segment : kept)
    (made += '/') += segment;
  if (made.empty() || path.ends_with('/'))
    made += '/';
  return made;
}

void append_path(std::string& to, std::string_view path) {
  const bool is_plain =
      path.find("//") == std::string_view::npos && path.find("/.") == std::string_view::npos;
  const auto normal = is_plain && path.starts_with('/') ? std::string{path} : normalized_path(path);
  for (const char c : normal)
    c == '/' || is_unreserved(c) ? void(to += c) : append_encoded(to, c);
}

/// Encoded once: what is percent-encoded stays as it is, in capitals.
std::string encoded_part(std::string_view part) {
  std::string made;
  for (std::size_t i = 0; i < part.size(); ++i) {
    char c = part[i];
    if (c == '%' && i + 2 < part.size() && hex_value(part[i + 1]) >= 0
        && hex_value(part[i + 2]) >= 0) {
      c = static_cast<char>(16 * hex_value(part[i + 1]) + hex_value(part[i + 2]));
      i += 2;
    }
    is_unreserved(c) ? void(made += c) : append_encoded(made, c);
  }
  return made;
}

void append_query(std::string& to, std::string_view query) {
  std::vector<std::pair<std::string, std::string>> parameters;
  for (std::size_t at = 0; at < query.size();) {
    const auto end = std::min(query.find('&', at), query.size());
    const auto parameter = query.substr(at, end - at);
    at = end + 1;
    if (parameter.empty())
      continue;
    const auto equals = std::min(parameter.find('='), parameter.size());
    parameters.emplace_back(encoded_part(parameter.substr(0, equals)),
                            encoded_part(parameter.substr(std::min(equals + 1, parameter.size()))));
  }
  std::sort(parameters.begin(), parameters.end());
  const char* separator = "";
  for (const auto& [name, value] : parameters) {
    ((to += separator) += name) += '=';
    to += value;
    separator = "&";
  }
}

/// Without blanks around it, and one for each run of them inside.
void append_value(std::string& to, std::string_view value) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  bool pending = false;
  const auto start = to.size();
  for (const char c : value) {
    if (is_blank(c)) {
      pending = true;
      continue;
    }
    if (pending && to.size() > start)
      to += ' ';
    pending = false;
    to += c;
  }
}

void append_headers(canonical_form& form, std::span<const header_to_sign> headers) {
  std::vector<std::pair<std::string, std::string_view>> sorted;
  sorted.reserve(headers.size());
  for (const auto& header : headers)
    sorted.emplace_back(ascii_lower(header.name), header.value);
  // Several values of one name stay in the order of the request.
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& left, const auto& right) { return left.first < right.first; });
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const auto& [name, value] = sorted[i];
    if (i > 0 && sorted[i - 1].first == name) {
      form.text += ',';
    } else {
      if (i > 0)
        form.text += '\n';
      (form.text += name) += ':';
      if (!form.signed_headers.empty())
        form.signed_headers += ';';
      form.signed_headers += name;
    }
    append_value(form.text, value);
  }
  form.text += '\n';
}

} // namespace

canonical_form canonicalize(const request_to_sign& request) {
  canonical_form form;
  form.text.reserve(1024);
  const auto query = std::min(request.target.find('?'), request.target.size());
  (form.text += request.method) += '\n';
  append_path(form.text, request.target.substr(0, query));
  form.text += '\n';
  append_query(form.text, request.target.substr(std::min(query + 1, request.target.size())));
  form.text += '\n';
  append_headers(form, request.headers);
  ((form.text += '\n') += form.signed_headers) += '\n';
  form.text += request.body_hash;
  return form;
}

std::string percent_encoded(std::string_view text) {
  std::string made;
  for (const char c : text)
    is_unreserved(c) ? void(made += c) : append_encoded(made, c);
  return made;
}

sigv4_signer::sigv4_signer(std::string region, std::string service)
    : region_(std::move(region)), service_(std::move(service)),
      scope_end_("/" + region_ + "/" + service_ + "/aws4_request") {}

std::string sigv4_signer::string_to_sign(const canonical_form& form, std::string_view date) {
  std::string text;
  text.reserve(192);
  ((text += algorithm) += '\n') += date;
  ((text += '\n') += date.substr(0, 8)) += scope_end_;
  return (text += '\n') += hash(form.text);
}

/// The chain of keys: secret, day, region, service.
const hmac_key& sigv4_signer::signing_key(const aws_credentials& keys, std::string_view day) {
  if (key_ && key_day_ == day && key_secret_ == keys.secret_key)
    return key_;
  auto derived = engine_.authenticate(engine_.make_key("AWS4" + keys.secret_key), day);
  for (const std::string_view next :
       {std::string_view{region_}, std::string_view{service_}, std::string_view{"aws4_request"}})
    derived = engine_.authenticate(engine_.make_key(octets_of(derived)), next);
  key_ = engine_.make_key(octets_of(derived));
  key_day_ = day;
  key_secret_ = keys.secret_key;
  return key_;
}

std::string sigv4_signer::authorize(const request_to_sign& request, const aws_credentials& keys,
                                    std::string_view date) {
  const auto form = canonicalize(request);
  const auto text = string_to_sign(form, date);
  const auto signature = engine_.authenticate(signing_key(keys, date.substr(0, 8)), text);
  std::string value;
  value.reserve(256 + form.signed_headers.size());
  ((value += algorithm) += " Credential=") += keys.access_key;
  ((value += '/') += date.substr(0, 8)) += scope_end_;
  ((value += ", SignedHeaders=") += form.signed_headers) += ", Signature=";
  return value += hex_of(signature);
}

} // namespace paceline
