#include <boost/test/unit_test.hpp>

#include <map>
#include <string>

#include "transport/aws/credentials.hpp"

using namespace paceline;

namespace {

environment_function variables(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const std::string& name) -> std::optional<std::string> {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional{found->second};
  };
}

constexpr const char* file = "# comment\n"
                             "[default]\r\n"
                             "aws_access_key_id = AKIDDEFAULT\r\n"
                             "aws_secret_access_key=secret/with+signs==\r\n"
                             "s3 =\n"
                             "  aws_access_key_id = NESTED\n"
                             "\n"
                             "[ mail ]\n"
                             "AWS_ACCESS_KEY_ID = AKIDMAIL\n"
                             "aws_secret_access_key = mailsecret\n"
                             "aws_session_token = mail-token\n"
                             "; comment\n"
                             "[half]\n"
                             "aws_access_key_id = AKIDHALF\n"
                             "[role]\n"
                             "role_arn = arn:aws:iam::123456789012:role/x\n"
                             "source_profile = default\n"
                             "[profile long]\n"
                             "aws_access_key_id = AKIDLONG\n"
                             "aws_secret_access_key = longsecret\n"
                             "[blank]\n"
                             "aws_access_key_id = AKID BLANK\n"
                             "aws_secret_access_key = hush";

} // namespace

BOOST_AUTO_TEST_SUITE(aws_credentials_sources)

BOOST_AUTO_TEST_CASE(the_environment_gives_keys_and_token) {
  const auto found = read_environment(variables({{"AWS_ACCESS_KEY_ID", "AKID"},
                                                 {"AWS_SECRET_ACCESS_KEY", "secret\n"},
                                                 {"AWS_SESSION_TOKEN", "token"}}));
  BOOST_REQUIRE(found);
  BOOST_REQUIRE(found->has_value());
  BOOST_TEST((*found)->access_key == "AKID");
  BOOST_TEST((*found)->secret_key == "secret");
  BOOST_TEST((*found)->session_token == "token");
  BOOST_TEST(!(*found)->expires.has_value());
}

BOOST_AUTO_TEST_CASE(an_empty_environment_has_nothing_and_half_a_pair_is_an_error) {
  BOOST_TEST(!read_environment(variables({})).operator*().has_value());
  const auto half = read_environment(variables({{"AWS_SECRET_ACCESS_KEY", "hush"}}));
  BOOST_REQUIRE(!half);
  BOOST_TEST(half.failure().text.find("access key is missing") != std::string::npos);
  BOOST_TEST(half.failure().text.find("hush") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_profile_of_the_file_is_found_in_any_spelling) {
  const auto default_keys = read_credentials_file(file, "default");
  BOOST_REQUIRE((default_keys && *default_keys));
  BOOST_TEST((*default_keys)->access_key == "AKIDDEFAULT");
  BOOST_TEST((*default_keys)->secret_key == "secret/with+signs==");
  const auto mail = read_credentials_file(file, "mail");
  BOOST_REQUIRE((mail && *mail));
  BOOST_TEST((*mail)->access_key == "AKIDMAIL");
  BOOST_TEST((*mail)->session_token == "mail-token");
  const auto longer = read_credentials_file(file, "long");
  BOOST_REQUIRE((longer && *longer));
  BOOST_TEST((*longer)->access_key == "AKIDLONG");
  BOOST_TEST(!read_credentials_file(file, "absent").operator*().has_value());
  BOOST_TEST(!read_credentials_file("", "default").operator*().has_value());
}

BOOST_AUTO_TEST_CASE(a_profile_that_can_not_be_used_says_why_without_its_values) {
  const auto why = [](const char* profile) {
    const auto found = read_credentials_file(file, profile);
    BOOST_REQUIRE(!found);
    BOOST_TEST(found.failure().text.find("[" + std::string{profile} + "]") != std::string::npos);
    return found.failure().text;
  };
  BOOST_TEST(why("half").find("secret key is missing") != std::string::npos);
  BOOST_TEST(why("half").find("AKID") == std::string::npos);
  BOOST_TEST(why("role").find("role_arn") != std::string::npos);
  BOOST_TEST(why("role").find("123456789012") == std::string::npos);
  BOOST_TEST(why("blank").find("hush") == std::string::npos);
  BOOST_TEST(why("blank").find("AKID") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_services_answers_give_keys_with_their_expiry) {
  const auto found = read_credentials_json(
      R"({"Code":"Success","Type":"AWS-HMAC","AccessKeyId":"ASIA1","SecretAccessKey":"s",)"
      R"("Token":"t","Expiration":"2026-03-01T10:00:00Z","LastUpdated":"2026-03-01T04:00:00Z"})");
  BOOST_REQUIRE(found);
  BOOST_TEST(found->access_key == "ASIA1");
  BOOST_TEST(found->session_token == "t");
  BOOST_TEST(found->expires.value() == 1772359200);
}

BOOST_AUTO_TEST_CASE(an_answer_without_keys_is_an_error_that_shows_none_of_it) {
  for (const auto* const bad :
       {"", "<html>", "[]", "{}", R"({"Code":"AssumeRoleUnauthorizedAccess","Message":"hush"})",
        R"({"AccessKeyId":"hush"})", R"({"AccessKeyId":"hush","SecretAccessKey":"a\r\nb"})",
        R"({"AccessKeyId":"A","SecretAccessKey":"hush","Expiration":"tomorrow"})"}) {
    const auto found = read_credentials_json(bad);
    BOOST_TEST(!found, bad);
    if (!found)
      BOOST_TEST(found.failure().text.find("hush") == std::string::npos, found.failure().text);
  }
}

BOOST_AUTO_TEST_CASE(a_container_asks_its_agent_or_a_safe_address_only) {
  const auto url = [](const std::string& name, const std::string& value) {
    const auto found = read_container_source(variables({{name, value}}));
    return !found ? std::string{"refused"} : *found ? (*found)->url : std::string{"nothing"};
  };
  const auto full = [&url](const std::string& value) {
    return url("AWS_CONTAINER_CREDENTIALS_FULL_URI", value);
  };
  BOOST_TEST(url("OTHER", "x") == "nothing");
  BOOST_TEST(url("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/v2/credentials/id")
             == "http://169.254.170.2/v2/credentials/id");
  BOOST_TEST(url("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "@evil.example/") == "refused");
  BOOST_TEST(url("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/a\r\nb") == "refused");
  for (const auto* const good :
       {"http://127.0.0.1:8080/creds", "http://localhost/creds", "http://[::1]:80/c",
        "http://169.254.170.23/v1/credentials", "http://[fd00:ec2::23]/v1/credentials",
        "https://vault.example.org/aws", "http://127.1.2.3/"})
    BOOST_TEST(full(good) == good);
  for (const auto* const bad :
       {"http://example.org/", "http://169.254.169.254/", "http://127.0.0.1.example.org/",
        "http://127.0.0.1@example.org/", "http://localhost.example.org/", "ftp://127.0.0.1/",
        "127.0.0.1/x", "http://10.0.0.1/", "http://[::2]/", "http:///x", "http://127.0.0.1/a b"})
    BOOST_TEST(full(bad) == "refused", bad);
}

BOOST_AUTO_TEST_CASE(a_containers_token_makes_one_header) {
  const auto found =
      read_container_source(variables({{"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1/"},
                                       {"AWS_CONTAINER_AUTHORIZATION_TOKEN", "Basic abc"}}));
  BOOST_REQUIRE((found && *found));
  BOOST_TEST((*found)->token == "Basic abc");
  BOOST_TEST(read_container_token("Bearer x\n").operator*() == "Bearer x");
  BOOST_TEST(!read_container_token("hush\r\nHost: evil"));
  BOOST_TEST(
      !read_container_source(variables({{"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1/"},
                                        {"AWS_CONTAINER_AUTHORIZATION_TOKEN", "a\nb"}})));
}

BOOST_AUTO_TEST_SUITE_END()
