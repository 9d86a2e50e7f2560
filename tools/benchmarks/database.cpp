#include "tools/benchmarks/database.hpp"

#include <stdexcept>

namespace paceline::bench {

database::database(const std::string& dsn)
    : connection_(::PQconnectdb((dsn + " gssencmode=disable").c_str()), &::PQfinish) {
  if (::PQstatus(connection_.get()) != CONNECTION_OK)
    throw std::runtime_error(::PQerrorMessage(connection_.get()));
}

rows database::run(const std::string& text) {
  return checked(::PQexec(connection_.get(), text.c_str()), text);
}

void database::prepare(const std::string& name, const std::string& text) {
  checked(::PQprepare(connection_.get(), name.c_str(), text.c_str(), 0, nullptr), name);
}

rows database::run_prepared(const char* name, const std::vector<const char*>& parameters) {
  return checked(::PQexecPrepared(connection_.get(), name, static_cast<int>(parameters.size()),
                                  parameters.data(), nullptr, nullptr, 0),
                 name);
}

rows database::checked(PGresult* answer, const std::string& what) {
  rows owned(answer);
  const auto status = ::PQresultStatus(answer);
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
    throw std::runtime_error(what.substr(0, 80) + ": " + ::PQerrorMessage(connection_.get()));
  return owned;
}

} // namespace paceline::bench
