/// docs/openapi.yaml against a server, by a client that knows only the file.
#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "test/pg/api_fixture.hpp"
#include "test/support/run_program.hpp"
#include "transport/api/api_parts.hpp"
#include "transport/http/server.hpp"

using namespace paceline;
using namespace paceline::test;

BOOST_FIXTURE_TEST_SUITE(api_openapi, api_fixture)

BOOST_AUTO_TEST_CASE(the_file_describes_the_server_and_a_stock_client_gets_along_with_it,
                     *boost::unit_test::label("openapi")) {
  const auto* const given = std::getenv("PACELINE_OPENAPI");
  if (given == nullptr || !std::filesystem::exists(given)) {
    BOOST_TEST_MESSAGE(
        "SKIPPED: docs/openapi.yaml was not held against the server: no node modules "
        "in PACELINE_OPENAPI (test/npm_install makes them)");
    return;
  }
  const std::filesystem::path folder{given}, source{PACELINE_SOURCE_DIR};
  const auto routes = folder / "routes.txt", script = folder / "check.mjs";
  std::ofstream list{routes};
  for (const auto& route : api_routes())
    list << route.shape.method << ' ' << route.shape.pattern << '\n';
  list.close();
  // Beside the modules, where node looks for them.
  std::filesystem::copy_file(source / "test/openapi/check.mjs", script,
                             std::filesystem::copy_options::overwrite_existing);
  is_ready = true;
  const std::string base = "http://127.0.0.1";
  options.links = std::make_shared<const unsubscribe_links>(
      base, std::vector<std::string>{"a key of at least 32 octets for links"});
  restart();
  const auto link = options.links->link({project_id{1}, "test", stream_id{7}, "left@example.org"})
                        .substr(base.size() + std::string_view{"/unsubscribe/"}.size());
  body_budget budget{64 << 20};
  listener_options listener;
  listener.name = "api";
  listener.address = "127.0.0.1:0";
  const auto server = must(http_server::start(
      listener, budget, log(), [this](const auto& request) { return service().answer(request); }));
  const auto end = run_program({"node", script, source / "docs/openapi.yaml", routes,
                                "http://127.0.0.1:" + std::to_string(server->port()), token, link});
  BOOST_TEST(end.status == 0, end.output << end.errors);
  BOOST_TEST(end.output.find(std::to_string(api_routes().size()) + " operations, 0 problems")
                 != std::string::npos,
             end.output);
}

BOOST_AUTO_TEST_SUITE_END()
