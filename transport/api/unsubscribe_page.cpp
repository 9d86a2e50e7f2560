#include "transport/api/unsubscribe_page.hpp"

#include <string>

#include "config/text.hpp"

namespace paceline {
namespace {

constexpr std::string_view style =
    "body{font:1.1em/1.5 sans-serif;max-width:32em;margin:4em auto;padding:0 1em;color:#222}"
    "button{font:inherit;padding:.5em 1.5em;cursor:pointer}";

/// The page may use the style above, by its hash (CSP, level 3, section 2.3.1), and nothing else;
/// its form goes back to where it came from.
constexpr std::string_view policy =
    "default-src 'none'; style-src 'sha256-Vvyq0HVSZKAOzi9LsTY78hWYl77dliyRuO3tEYxx+T0='; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

std::string escaped(std::string_view text) {
  std::string made;
  for (const char c : text)
    switch (c) {
    case '&':
      made += "&amp;";
      break;
    case '<':
      made += "&lt;";
      break;
    case '>':
      made += "&gt;";
      break;
    case '"':
      made += "&quot;";
      break;
    default:
      made += c;
    }
  return made;
}

http_response page(int status, std::string_view title, const std::string& body) {
  http_response made;
  made.status = status;
  made.content_type = "text/html; charset=utf-8";
  made.body.append("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
      .append("<meta name=\"viewport\" content=\"width=device-width\">\n<title>")
      .append(title)
      .append("</title>\n<style>")
      .append(style)
      .append("</style>\n</head>\n<body>\n<h1>")
      .append(title)
      .append("</h1>\n")
      .append(body)
      .append("</body>\n</html>\n");
  made.headers = {{"Content-Security-Policy", std::string{policy}},
                  {"Cache-Control", "no-store"},
                  {"Referrer-Policy", "no-referrer"},
                  {"X-Robots-Tag", "noindex, nofollow"},
                  {"X-Content-Type-Options", "nosniff"}};
  return made;
}

} // namespace

http_response unsubscribe_question(std::string_view address) {
  return page(200, "Unsubscribe",
              "<p>Do you want no more mailings for " + escaped(mask_address(address))
                  + "?</p>\n<form method=\"post\">\n"
                    "<input type=\"hidden\" name=\"List-Unsubscribe\" value=\"One-Click\">\n"
                    "<button type=\"submit\">Unsubscribe</button>\n</form>\n");
}

http_response unsubscribe_confirmation(std::string_view address) {
  return page(200, "Unsubscribed",
              "<p>" + escaped(mask_address(address))
                  + " gets no more mailings from this sender. Messages that answer what you do "
                    "yourself, such as receipts, still come.</p>\n");
}

http_response unsubscribe_refusal(int status, std::string_view title, std::string_view text) {
  return page(status, title, "<p>" + escaped(text) + "</p>\n");
}

} // namespace paceline
