/// A thin cover over libpq: what a bench needs to look behind Paceline's back, and the floor to be
/// a floor.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include <libpq-fe.h>

namespace paceline::bench {

/// Rows as texts; NULL is an empty text.
class rows {
public:
  explicit rows(PGresult* from) : from_(from, &::PQclear) {}
  int count() const { return ::PQntuples(from_.get()); }
  const char* text(int row, int column) const { return ::PQgetvalue(from_.get(), row, column); }
  std::int64_t integer(int row, int column) const { return std::stoll(text(row, column)); }
  double number(int row, int column) const { return std::stod(text(row, column)); }
  bool is_null(int row, int column) const { return ::PQgetisnull(from_.get(), row, column) != 0; }

private:
  std::unique_ptr<PGresult, decltype(&::PQclear)> from_;
};

/// One connection, for one thread. Everything throws `std::runtime_error` with the server's words.
class database {
public:
  explicit database(const std::string& dsn);

  /// Several statements of one text; the last one's rows.
  rows run(const std::string& text);
  void prepare(const std::string& name, const std::string& text);
  rows run_prepared(const char* name, const std::vector<const char*>& parameters);

private:
  rows checked(PGresult* answer, const std::string& what);
  std::unique_ptr<PGconn, decltype(&::PQfinish)> connection_;
};

} // namespace paceline::bench
