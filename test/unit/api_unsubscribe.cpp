/// What counts as one click, and what the pages are made of.
#include <boost/test/unit_test.hpp>

#include <array>
#include <cstdint>

#include <openssl/evp.h>

#include "transport/api/one_click.hpp"
#include "transport/api/unsubscribe_page.hpp"

namespace paceline::test {
namespace {

constexpr std::string_view form = "application/x-www-form-urlencoded";

std::string header(const http_response& of, std::string_view name) {
  for (const auto& [key, value] : of.headers)
    if (key == name)
      return value;
  return {};
}

/// The source expression by which a policy allows a style (CSP, level 3, section 2.3.1).
std::string hash_source(const std::string& style) {
  std::array<unsigned char, 32> hash{};
  EVP_Digest(style.data(), style.size(), hash.data(), nullptr, EVP_sha256(), nullptr);
  std::array<unsigned char, 45> text{};
  EVP_EncodeBlock(text.data(), hash.data(), static_cast<int>(hash.size()));
  return "'sha256-" + std::string{reinterpret_cast<const char*>(text.data())} + "'";
}

} // namespace

BOOST_AUTO_TEST_SUITE(api_unsubscribe)

BOOST_AUTO_TEST_CASE(the_pair_is_found_in_any_case_and_beside_others) {
  for (const auto* good : {"List-Unsubscribe=One-Click", "list-unsubscribe=ONE-CLICK",
                           "x=1&List-Unsubscribe=One-Click&y", "List%2DUnsubscribe=One%2dClick",
                           "List-Unsubscribe=One-Click\r\n", "&&List-Unsubscribe=One-Click"})
    for (const auto type : {form, std::string_view{"application/x-www-form-urlencoded; charset=x"},
                            std::string_view{"text/plain"}, std::string_view{}})
      BOOST_TEST(is_one_click(type, good), good);
  BOOST_TEST(is_one_click(std::nullopt, "List-Unsubscribe=One-Click"));
}

BOOST_AUTO_TEST_CASE(nothing_else_counts_as_a_click) {
  for (const auto* bad :
       {"", "List-Unsubscribe", "List-Unsubscribe=", "List-Unsubscribe=One-Clic",
        "List-Unsubscribe=One-Click2", "xList-Unsubscribe=One-Click", "One-Click=List-Unsubscribe",
        "List-Unsubscribe=One+Click", "%", "%2", "=", "List-Unsubscribe%3DOne-Click", "&"})
    BOOST_TEST(!is_one_click(form, bad), bad);
}

BOOST_AUTO_TEST_CASE(a_multipart_form_has_the_pair_in_a_part) {
  const std::string part = "Content-Disposition: form-data; name=\"List-Unsubscribe\"\r\n\r\n";
  const std::string type = "Multipart/Form-Data; boundary=b";
  BOOST_TEST(is_one_click(type, "--b\r\n" + part + "One-Click\r\n--b--\r\n"));
  BOOST_TEST(is_one_click("multipart/form-data; charset=x; boundary=\"b\"",
                          "--b\r\nA: b\r\n\r\nx\r\n--b\r\n" + part + "One-Click\r\n--b--"));
  BOOST_TEST(!is_one_click(type, "--b\r\n" + part + "No\r\n--b--\r\n"));
  BOOST_TEST(!is_one_click(type, "--c\r\n" + part + "One-Click\r\n--c--\r\n"));
  BOOST_TEST(!is_one_click(type, "List-Unsubscribe=One-Click"));
  BOOST_TEST(!is_one_click("multipart/form-data", "--\r\n" + part + "One-Click\r\n----\r\n"));
  BOOST_TEST(!is_one_click(type, "--b--b--b\r\n\r\n--b"));
}

BOOST_AUTO_TEST_CASE(the_pages_need_nothing_from_elsewhere_and_say_so) {
  for (const auto& page : {unsubscribe_question("a@b.de"), unsubscribe_confirmation("a@b.de"),
                           unsubscribe_refusal(404, "No", "text")}) {
    BOOST_TEST(page.content_type == "text/html; charset=utf-8");
    BOOST_TEST(header(page, "Cache-Control") == "no-store");
    BOOST_TEST(header(page, "Referrer-Policy") == "no-referrer");
    BOOST_TEST(header(page, "X-Robots-Tag") == "noindex, nofollow");
    BOOST_TEST(header(page, "Set-Cookie") == "");
    for (const auto* foreign : {"http:", "https:", "<script", "src=", "href=", "url(", "@import"})
      BOOST_TEST(page.body.find(foreign) == std::string::npos, foreign);
    const auto begin = page.body.find("<style>") + 7;
    const auto style = page.body.substr(begin, page.body.find("</style>") - begin);
    const auto policy = header(page, "Content-Security-Policy");
    BOOST_TEST(policy.find("default-src 'none'") == 0u);
    BOOST_TEST(policy.find(hash_source(style)) != std::string::npos, policy);
    BOOST_TEST(policy.find("unsafe") == std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(the_question_posts_one_click_back_and_shows_no_whole_address) {
  const auto page = unsubscribe_question("<b>&anna@example.com");
  BOOST_TEST(page.body.find("<form method=\"post\">") != std::string::npos);
  BOOST_TEST(page.body.find("name=\"List-Unsubscribe\" value=\"One-Click\"") != std::string::npos);
  BOOST_TEST(page.body.find("anna@") == std::string::npos);
  BOOST_TEST(page.body.find("@example.com") != std::string::npos);
  BOOST_TEST(page.body.find("<b>") == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace paceline::test
