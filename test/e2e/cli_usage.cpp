/// The program as a user meets it without a database: help, wrong use, bad configuration.
#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

#include <rapidjson/document.h>

#include "test/support/run_program.hpp"

namespace {

using paceline::test::program_end;

/// Nobody answers there.
constexpr const char* no_database = "database.dsn=postgresql://paceline@127.0.0.1:1/none";

program_end run(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), PACELINE_PROGRAM);
  return paceline::test::run_program(arguments);
}

/// A file that is gone at the end of the test.
class scratch {
public:
  scratch(const std::string& name, const std::string& text)
      : path_(std::filesystem::temp_directory_path()
              / ("paceline-cli-" + std::to_string(::getpid()) + "-" + name)) {
    std::ofstream{path_, std::ios::binary} << text;
  }
  ~scratch() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  std::string path() const { return path_.string(); }

private:
  std::filesystem::path path_;
};

std::string configuration() {
  return "[database]\ndsn = \"postgresql://paceline:hunter2@127.0.0.1:1/none\"\n"
         "[environments.test]\nkind = \"test\"\n"
         "[routes.\"test:sim\"]\nprovider = \"simulated\"\n";
}

rapidjson::Document parsed(const std::string& text) {
  rapidjson::Document document;
  document.Parse(text.c_str());
  BOOST_REQUIRE_MESSAGE(!document.HasParseError(), text);
  return document;
}

const std::vector<std::vector<std::string>> commands{
    {},
    {"serve"},
    {"migrate"},
    {"send"},
    {"preview"},
    {"status"},
    {"curve"},
    {"messages"},
    {"messages", "list"},
    {"messages", "show"},
    {"messages", "cancel"},
    {"messages", "resolve"},
    {"campaigns"},
    {"campaigns", "list"},
    {"campaigns", "show"},
    {"campaigns", "pause"},
    {"campaigns", "resume"},
    {"campaigns", "cancel"},
    {"suppressions"},
    {"suppressions", "add"},
    {"suppressions", "remove"},
    {"suppressions", "list"},
    {"routes"},
    {"routes", "list"},
    {"routes", "pause"},
    {"routes", "resume"},
    {"routes", "set-rate"},
    {"shards"},
    {"shards", "list"},
    {"node"},
    {"node", "list"},
    {"node", "stop"},
    {"keys"},
    {"keys", "create"},
    {"keys", "list"},
    {"keys", "revoke"},
    {"projects"},
    {"projects", "list"},
    {"projects", "create"},
    {"projects", "set"},
    {"audit"},
    {"audit", "list"},
    {"config"},
    {"config", "check"},
    {"config", "reference"},
};

const std::vector<std::vector<std::string>> wrong_uses{
    {},
    {"sned"},
    {"--sned"},
    {"messages"},
    {"messages", "show"},
    {"messages", "show", "abc"},
    {"messages", "list", "--limit", "0"},
    {"messages", "list", "--status", "lost"},
    {"messages", "resolve", "1", "--as", "perhaps"},
    {"messages", "resolve", "--as", "accepted"},
    {"messages", "resolve", "1", "--campaign", "1", "--as", "accepted"},
    {"messages", "resolve", "1", "--as", "accepted", "--yes"},
    {"messages", "resolve", "1", "--as", "accepted", "--without-feedback-for", "24h"},
    {"messages", "resolve", "--campaign", "1", "--as", "accepted"},
    {"messages", "resolve", "--campaign", "1", "--as", "accepted", "--without-feedback-for",
     "soon"},
    {"messages", "resolve", "--campaign", "x", "--as", "accepted", "--without-feedback-for", "24h"},
    {"campaigns", "cancel", "-1x"},
    {"routes"},
    {"routes", "pause"},
    {"routes", "pause", "sim"},
    {"routes", "resume", "test:"},
    {"routes", "set-rate", "test:sim"},
    {"routes", "set-rate", "test:sim", "0"},
    {"routes", "set-rate", "test:sim", "0.019"},
    {"routes", "set-rate", "test:sim", "1000001"},
    {"routes", "set-rate", "test:sim", "nan"},
    {"routes", "set-rate", "test:sim", "1e308"},
    {"routes", "set-rate", "test:sim", "fast"},
    {"routes", "set-rate", "test:sim", "20", "--clear"},
    {"node", "stop", "--timeout", "0s"},
    {"node", "stop", "--timeout", "soon"},
    {"keys", "create"},
    {"keys", "create", "--name", "Shop"},
    {"keys", "create", "--name", "shop", "--scope", "everything"},
    {"keys", "create", "--name", "shop", "--limit", "0"},
    {"keys", "create", "--name", "shop", "--limit", "2147483648"},
    {"keys", "revoke"},
    {"keys", "revoke", "-1"},
    {"projects", "create"},
    {"projects", "set", "shop"},
    {"projects", "set", "shop", "--sender-domain", "no domain"},
    {"projects", "set", "shop", "--max-outstanding", "0"},
    {"projects", "set", "shop", "--any-sender-domain", "--sender-domain", "a.example.com"},
    {"audit", "list", "--limit", "1001"},
    {"audit", "list", "--before", "x"},
    {"curve"},
    {"status", "--set", "novalue"},
    {"suppressions", "add"},
    {"suppressions", "add", "nobody"},
    {"suppressions", "list", "--project", "other"},
    {"send"},
    {"send", "--route", "nowhere", "--from", "a@example.com", "--to", "b@example.com", "--subject",
     "s", "--text", "t"},
    {"send", "--route", "test:sim", "--from", "a@example.com", "--subject", "s", "--text", "t"},
    {"send", "--route", "test:sim", "--from", "a@example.com", "--to", "b@example.com", "--csv",
     "people.csv", "--subject", "s", "--text", "t"},
    {"send", "--route", "test:sim", "--from", "a@example.com", "--to", "b@example.com", "--subject",
     "s", "--text", "t", "--send-in", "soon"},
    {"send", "--route", "test:sim", "--from", "a@example.com", "--to", "b@example.com", "--subject",
     "s", "--text", "t", "--send-in", ""},
    {"send", "--route", "test:sim", "--from", "a@example.com", "--to", "b@example.com", "--subject",
     "s", "--text", "t", "--expires-in", ""},
    {"send", "--route", "test:sim", "--from", "a@example.com", "--csv", "people.csv", "--subject",
     "s", "--text", "t", "--rate-cap", "nan"},
    {"send", "--route", "test:sim", "--from", "a@example.com", "--to", "b@example.com", "--subject",
     "s", "--text", "t", "--weight", "50"},
    {"send", "--route", "test:sim", "--from", "a@example.com", "--to", "b@example.com", "--subject",
     "s", "--text", "t", "--priority", "101"},
    {"send", "--route", "test:sim", "--from", "a@example.com", "--to", "b@example.com", "--subject",
     "s", "--text", "t", "--field", "x"},
    {"send", "--route", "test:sim", "--from", "a@example.com", "--to", "b@example.com", "--subject",
     "s", "--subject-file", "f", "--text", "t"},
};

} // namespace

BOOST_AUTO_TEST_SUITE(cli_usage)

BOOST_AUTO_TEST_CASE(every_command_helps_with_an_example) {
  for (auto command : commands) {
    command.push_back("--help");
    const auto end = run(command);
    BOOST_TEST(end.status == 0);
    BOOST_TEST(end.errors == "");
    const auto examples = end.output.find("Examples:\n  paceline");
    BOOST_TEST(examples != std::string::npos, end.output);
  }
}

BOOST_AUTO_TEST_CASE(the_version_is_one_line) {
  const auto end = run({"--version"});
  BOOST_TEST(end.status == 0);
  BOOST_TEST(end.output.starts_with("paceline "));
  BOOST_TEST(end.output.find('\n') == end.output.size() - 1);
}

BOOST_AUTO_TEST_CASE(wrong_use_exits_with_2_and_says_where_help_is) {
  for (const auto& arguments : wrong_uses) {
    const auto end = run(arguments);
    std::string shown;
    for (const auto& argument : arguments)
      shown += argument + " ";
    BOOST_TEST(end.status == 2, shown << "gave " << end.status << ": " << end.errors);
    BOOST_TEST(end.output == "");
    BOOST_TEST(end.errors.starts_with("paceline: "), end.errors);
    BOOST_TEST(end.errors.find("--help") != std::string::npos, end.errors);
  }
}

BOOST_AUTO_TEST_CASE(an_unknown_command_is_named) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"frob"}, std::vector<std::string>{"routes", "frob"}}) {
    const auto ended = run(arguments);
    BOOST_TEST(ended.status == 2);
    BOOST_TEST(ended.errors.find("there is no command 'frob' here") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(a_bad_file_or_template_exits_with_2_before_the_database_is_asked) {
  const scratch good{"good.csv", "email,name\nanna@example.com,Anna\n"};
  const scratch no_email{"bad.csv", "name\nAnna\n"};
  const std::vector<std::string> base{"send", "--route", "test:sim", "--from", "a@example.com"};
  const std::vector<std::vector<std::string>> wrong{
      {"--csv", "/no/such/file.csv", "--subject", "s", "--text", "t"},
      {"--csv", no_email.path(), "--subject", "s", "--text", "t"},
      {"--csv", good.path(), "--subject", "s", "--text", "{{#open}}"},
      {"--csv", good.path(), "--subject", "s", "--text-file", "/no/such/file.txt"},
  };
  for (const auto& some : wrong) {
    auto arguments = base;
    arguments.insert(arguments.end(), some.begin(), some.end());
    const auto end = run(arguments);
    BOOST_TEST(end.status == 2, some[1] << " gave " << end.status << ": " << end.errors);
    BOOST_TEST(end.errors.starts_with("paceline: "), end.errors);
  }
}

BOOST_AUTO_TEST_CASE(a_bad_configuration_exits_with_2_and_names_every_error) {
  const scratch file{"bad.toml", configuration() + "[dispatch]\nmax_group = 0\nno_such_key = 1\n"};
  for (const auto& command : std::vector<std::vector<std::string>>{
           {"status"}, {"config", "check"}, {"campaigns", "list"}, {"migrate"}, {"serve"}}) {
    auto arguments = command;
    arguments.insert(arguments.end(), {"--config", file.path()});
    const auto end = run(arguments);
    BOOST_TEST(end.status == 2);
    BOOST_TEST(end.errors.find("max_group") != std::string::npos, end.errors);
    BOOST_TEST(end.errors.find("no_such_key") != std::string::npos, end.errors);
    BOOST_TEST(end.errors.find("hunter2") == std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(errors_of_the_configuration_are_json_if_asked_for) {
  const scratch file{"bad.toml", configuration() + "[dispatch]\nmax_group = 0\nno_such_key = 1\n"};
  const auto end = run({"config", "check", "--json", "--config", file.path()});
  BOOST_TEST(end.status == 2);
  const auto document = parsed(end.output);
  BOOST_TEST(!document["ok"].GetBool());
  BOOST_TEST(document["errors"].Size() == 2u);
}

BOOST_AUTO_TEST_CASE(a_good_configuration_is_shown_without_its_password) {
  const scratch file{"good.toml", configuration()};
  const auto end = run({"config", "check", "--config", file.path(), "--set", "log.level=warn"});
  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(end.output.find("log.level") != std::string::npos);
  BOOST_TEST(end.output.find("--set") != std::string::npos);
  BOOST_TEST(end.output.find("didn't answer") != std::string::npos);
  BOOST_TEST((end.output + end.errors).find("hunter2") == std::string::npos);

  const auto json = run({"config", "check", "--config", file.path(), "--json"});
  BOOST_TEST(json.status == 0, json.errors);
  const auto document = parsed(json.output);
  BOOST_TEST(document["ok"].GetBool());
  BOOST_TEST(document["options"].Size() > 20u);
  BOOST_TEST(document["connections"]["max_connections"].IsNull());
  BOOST_TEST((json.output + json.errors).find("hunter2") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_reference_is_printed_without_configuration_and_database) {
  const auto committed = [](const std::string& name) {
    std::stringstream text;
    text << std::ifstream{std::string{PACELINE_SOURCE_DIR} + "/" + name}.rdbuf();
    return text.str();
  };
  const auto reference = run({"config", "reference"});
  BOOST_TEST(reference.status == 0);
  BOOST_TEST(reference.errors == "");
  BOOST_TEST((reference.output == committed("docs/configuration.md")));
  const auto example = run({"config", "reference", "--example"});
  BOOST_TEST((example.output == committed("config/paceline.example.toml")));
  const scratch file{"example.toml", example.output};
  BOOST_TEST(run({"config", "check", "--config", file.path()}).status == 0);
}

BOOST_AUTO_TEST_CASE(a_listener_in_plain_http_beyond_this_machine_is_warned_of) {
  const scratch file{"good.toml", configuration()};
  const auto warnings = [&file](const std::string& listen) {
    const auto end =
        run({"config", "check", "--config", file.path(), "--set", listen, "--set", no_database});
    BOOST_TEST(end.status == 0, end.errors);
    return end.output;
  };
  for (const std::string where : {"0.0.0.0:8700", "[::]:8700"}) {
    const auto api = warnings("api.listen=" + where);
    BOOST_TEST(api.find("warning: api.listen = " + where + " is plain HTTP") != std::string::npos,
               api);
    const auto admin = warnings("admin.listen=" + where);
    BOOST_TEST(admin.find("warning: admin.listen = " + where) != std::string::npos, admin);
  }
  BOOST_TEST(warnings("api.listen=127.0.0.1:8700").find("plain HTTP") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_database_that_does_not_answer_exits_with_1) {
  const scratch file{"good.toml", configuration()};
  for (const auto& command : std::vector<std::vector<std::string>>{
           {"status"},
           {"migrate"},
           {"campaigns", "list"},
           {"curve", "17"},
           {"messages", "show", "17"},
           {"suppressions", "list"},
           {"routes", "list"},
           {"routes", "pause", "test:sim"},
           {"shards", "list"},
           {"node", "stop"},
           {"keys", "list"},
           {"projects", "list"},
           {"audit", "list"},
           {"send", "--route", "test:sim", "--from", "a@example.com", "--to", "b@example.com",
            "--subject", "s", "--text", "t"}}) {
    auto arguments = command;
    arguments.insert(arguments.end(), {"--config", file.path(), "--set", no_database});
    const auto end = run(arguments);
    BOOST_TEST(end.status == 1, command[0] << " gave " << end.status << ": " << end.errors);
    BOOST_TEST(end.errors.starts_with("paceline: "), end.errors);
    BOOST_TEST(end.output == "");
  }
}

BOOST_AUTO_TEST_SUITE_END()
