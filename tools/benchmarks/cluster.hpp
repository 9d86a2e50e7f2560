/// A PostgreSQL cluster for one bench, as `tools/private_postgres` makes it, in a temporary folder
/// that goes with it. Durability stays at PostgreSQL's defaults.
#pragma once

#include <string>
#include <vector>

namespace paceline::bench {

class cluster {
public:
  /// `settings` are lines of postgresql.conf, as `work_mem=8MB`. Throws `std::runtime_error`.
  explicit cluster(const std::vector<std::string>& settings = {});
  cluster(const cluster&) = delete;
  cluster& operator=(const cluster&) = delete;
  ~cluster(); ///< stops the server and deletes the folder

  /// A fresh, empty database: its connection string.
  std::string create_database();
  /// Makes what was written so far durable, so that no checkpoint falls into what is measured.
  void settle();
  std::string version();

  /// For files of the bench; deleted at the end.
  const std::string& folder() const { return folder_; }
  /// Of the cluster's own database.
  const std::string& dsn() const { return dsn_; }

private:
  std::string run(std::vector<std::string> arguments) const;
  void remove() noexcept;

  std::string folder_, dsn_;
  int databases_ = 0;
};

} // namespace paceline::bench
