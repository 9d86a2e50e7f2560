/// Stand-ins for providers: what a test or a bench sends to instead of to the world.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <map>

#include <boost/asio/io_context.hpp>

#include "tools/simulators/batch.hpp"
#include "tools/simulators/control.hpp"
#include "tools/simulators/http_server.hpp"
#include "tools/simulators/listening.hpp"
#include "tools/simulators/ses.hpp"
#include "tools/simulators/smtp.hpp"

namespace paceline::simulators {
namespace {

struct order {
  place where;
  simulation_options simulated;
  signing_account account{"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "", ""};
  std::string api_key = "re_simulator";
  smtp_options smtp;
  bool no_starttls = false, no_pipelining = false;
};

void run_ses(const order& wanted) {
  boost::asio::io_context loop(1);
  simulation shared(wanted.simulated);
  ses_account account;
  ses_service service(shared, account, wanted.account);
  const auto identity = identity_for(wanted.where);
  http_server server(loop, service, wanted.where.address, wanted.where.port, &identity);
  control_service control(shared, &account, [&server] { return server.connections(); });
  http_server control_server(loop, control, "127.0.0.1", wanted.where.control_port, nullptr);
  serve_until_told(loop, server.port(), control_server.port());
}

void run_batch(const order& wanted) {
  boost::asio::io_context loop(1);
  simulation shared(wanted.simulated);
  batch_service service(shared, wanted.api_key);
  const auto identity = identity_for(wanted.where);
  http_server server(loop, service, wanted.where.address, wanted.where.port, &identity);
  control_service control(shared, nullptr, [&server] { return server.connections(); });
  http_server control_server(loop, control, "127.0.0.1", wanted.where.control_port, nullptr);
  serve_until_told(loop, server.port(), control_server.port());
}

void run_smtp(const order& wanted) {
  boost::asio::io_context loop(1);
  simulation shared(wanted.simulated);
  auto options = wanted.smtp;
  options.starttls = !wanted.no_starttls && !options.tls_at_once;
  options.pipelining = !wanted.no_pipelining;
  const auto identity = identity_for(wanted.where);
  smtp_server server(loop, shared, options, wanted.where.address, wanted.where.port, identity);
  control_service control(shared, nullptr, [&server] { return server.connections(); });
  http_server control_server(loop, control, "127.0.0.1", wanted.where.control_port, nullptr);
  serve_until_told(loop, server.port(), control_server.port());
}

void add_common_options(CLI::App& to, order& wanted, double rate) {
  wanted.simulated.rate = rate;
  to.option_defaults()->take_last();
  to.add_option("--address", wanted.where.address, "Address to listen on")->capture_default_str();
  to.add_option("--port", wanted.where.port, "0: a free one")->capture_default_str();
  to.add_option("--control-port", wanted.where.control_port, "On 127.0.0.1; 0: a free one")
      ->capture_default_str();
  to.add_option("--ca", wanted.where.ca_file, "Write our authority's certificate here (PEM)");
  auto* const key = to.add_option("--key", wanted.where.key, "Private key of --certificate (PEM)");
  to.add_option("--certificate", wanted.where.certificate, "In place of our own (PEM)")->needs(key);
  static const std::map<std::string, certificate_flaw> flaws{
      {"none", certificate_flaw::none},
      {"expired", certificate_flaw::expired},
      {"wrong-name", certificate_flaw::wrong_name}};
  to.add_option("--flaw", wanted.where.flaw, "Of our own certificate: none, expired, wrong-name")
      ->transform(CLI::CheckedTransformer(flaws));
  to.add_option("--ledger", wanted.simulated.ledger, "File for a line per message taken");
  to.add_option("--keep", wanted.simulated.keep, "Folder for the messages as they came");
  to.add_option("--route", wanted.simulated.route, "Name written into the ledger");
  to.add_option("--latency-ms", wanted.simulated.latency_ms, "Mean")->capture_default_str();
  to.add_option("--jitter", wanted.simulated.jitter, "Relative spread, 0 to 1")
      ->capture_default_str();
  to.add_option("--connect-ms", wanted.simulated.connect_ms, "Before the TLS handshake")
      ->capture_default_str();
  to.add_option("--rate", wanted.simulated.rate, "Quota per second")->capture_default_str();
  to.add_option("--tolerance", wanted.simulated.tolerance, "How much more passes")
      ->capture_default_str();
  to.add_option("--daily-quota", wanted.simulated.daily_quota, "0: unlimited")
      ->capture_default_str();
  to.add_option("--seed", wanted.simulated.seed, "Of latency and chance")->capture_default_str();
}

void add_ses(CLI::App& to, order& wanted) {
  auto* const ses = to.add_subcommand("ses", "Amazon SES v2 over HTTPS");
  add_common_options(*ses, wanted, 5000);
  ses->add_option("--access-key", wanted.account.access_key)->capture_default_str();
  ses->add_option("--secret-key", wanted.account.secret)->capture_default_str();
  ses->add_option("--session-token", wanted.account.session_token, "Required where given");
  ses->add_option("--region", wanted.account.region, "Of signatures; empty: any");
  ses->footer("Example:\n  paceline-simulators ses --ca ca.pem --ledger ledger --rate 100\n"
              "  curl -d '{\"fault\":\"throttle\",\"share\":0.3}' http://127.0.0.1:PORT/control\n"
              "docs/simulators.md lists faults and addresses.");
  ses->callback([&wanted] { run_ses(wanted); });
}

void add_batch(CLI::App& to, order& wanted) {
  auto* const batch = to.add_subcommand("batch", "Resend's POST /emails/batch over HTTPS");
  add_common_options(*batch, wanted, 2);
  wanted.simulated.tolerance = 1;
  batch->add_option("--api-key", wanted.api_key)->capture_default_str();
  batch->footer("The rate is of requests.\n\nExample:\n"
                "  paceline-simulators batch --ca ca.pem --ledger ledger --keep messages");
  batch->callback([&wanted] { run_batch(wanted); });
}

void add_smtp(CLI::App& to, order& wanted) {
  auto* const smtp = to.add_subcommand("smtp", "SMTP with STARTTLS and AUTH");
  add_common_options(*smtp, wanted, 5000);
  smtp->add_flag("--tls", wanted.smtp.tls_at_once, "TLS from the first octet");
  smtp->add_flag("--no-starttls", wanted.no_starttls, "Mail in plain");
  smtp->add_flag("--no-pipelining", wanted.no_pipelining, "Not offered; early commands are errors");
  auto* const password = smtp->add_option("--password", wanted.smtp.password);
  smtp->add_option("--user", wanted.smtp.user, "Who must authenticate; empty: nobody")
      ->needs(password);
  smtp->add_option("--max-size", wanted.smtp.longest_message, "Octets of a message")
      ->capture_default_str();
  smtp->footer(
      "Example:\n  paceline-simulators smtp --ca ca.pem --user u --password p --keep kept");
  smtp->callback([&wanted] { run_smtp(wanted); });
}

} // namespace
} // namespace paceline::simulators

int main(int argc, char** argv) {
  using namespace paceline::simulators;
  CLI::App app{"Stand-ins for mail providers, with ledgers and faults on demand.\n"
               "The first line of output says where it listens; SIGTERM ends it."};
  app.require_subcommand(1);
  order ses, batch, smtp;
  add_ses(app, ses);
  add_batch(app, batch);
  add_smtp(app, smtp);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& wrong) {
    constexpr int wrong_use = 2;
    return app.exit(wrong) == 0 ? 0 : wrong_use;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "simulators: %s\n", failure.what());
    return 1;
  }
  return 0;
}
