#include "storage/schema.hpp"

#include <array>
#include <cstdio>

#include <openssl/evp.h>

#include "storage/migration_list.hpp"
#include "storage/session.hpp"
#include "storage/sql/queries.hpp"

namespace paceline {
namespace {

/// SHA-256 in hexadecimal digits.
std::string checksum(std::string_view text) {
  std::array<std::uint8_t, 32> digest{};
  EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  return bytea_literal(digest).substr(2);
}

std::string title(const migration& step) {
  std::array<char, 8> number{};
  std::snprintf(number.data(), number.size(), "%04d", step.number);
  return std::string{number.data()} + " " + std::string{step.name};
}

struct landed_migration {
  int number = 0;
  std::string checksum;
};

result<std::vector<landed_migration>> landed_migrations(session& on) {
  const auto rows = on.run(sql::list_migrations);
  if (!rows)
    return rows.failure();
  std::vector<landed_migration> landed;
  for (const auto& row : *rows)
    landed.push_back({row["number"].as<int>(), row["checksum"].as<std::string>()});
  return landed;
}

/// Whether what has landed is the beginning of what this program knows.
result<done> check_landed(const std::vector<landed_migration>& landed) {
  for (std::size_t i = 0; i < landed.size(); ++i) {
    if (i >= all_migrations.size())
      return error{error_kind::refused,
                   "the database is newer than this program: it has migration "
                       + std::to_string(landed.back().number) + ", this program knows "
                       + std::to_string(all_migrations.size()) + ". Use the newer program"};
    const auto& known = all_migrations[i];
    if (landed[i].number != known.number)
      return error{error_kind::refused, "migration " + title(known) + " is missing before number "
                                            + std::to_string(landed[i].number)
                                            + ": schema_migrations was edited"};
    if (landed[i].checksum != checksum(known.text))
      return error{error_kind::refused,
                   "migration " + title(known)
                       + " is not the one that landed in this database (its checksum differs). A "
                         "landed migration is never edited: use the program that belongs to this "
                         "database"};
  }
  return done{};
}

result<done> create_table(session& on) {
  return on.in_transaction([](session& inside) -> result<done> {
    if (const auto guarded = inside.run(sql::guard_migrations_table); !guarded)
      return guarded.failure();
    if (const auto created = inside.run(sql::create_migrations_table); !created)
      return created.failure();
    return done{};
  });
}

/// What has landed, with the table locked until the transaction ends.
result<std::vector<landed_migration>> lock_landed(session& inside) {
  if (const auto lifted = inside.run(sql::lift_timeouts); !lifted)
    return lifted.failure();
  if (const auto locked = inside.run(sql::lock_migrations); !locked)
    return locked.failure();
  auto landed = landed_migrations(inside);
  if (!landed)
    return landed;
  if (const auto checked = check_landed(*landed); !checked)
    return checked.failure();
  return landed;
}

/// False where it had landed already.
result<bool> apply(session& on, const migration& step) {
  return on.in_transaction([&step](session& inside) -> result<bool> {
    const auto landed = lock_landed(inside);
    if (!landed)
      return landed.failure();
    if (landed->size() >= static_cast<std::size_t>(step.number))
      return false;
    if (const auto applied = inside.run_script("migration", std::string{step.text}); !applied)
      return error{applied.failure().kind,
                   "migration " + title(step) + " failed: " + applied.failure().text};
    const auto noted = inside.run(sql::note_migration, step.number, step.name, checksum(step.text));
    if (!noted)
      return noted.failure();
    return true;
  });
}

result<done> set_role_defaults(session& on) {
  return on.in_transaction([](session& inside) -> result<done> {
    // Under the lock, because two ALTER ROLE at once fail.
    if (const auto landed = lock_landed(inside); !landed)
      return landed.failure();
    if (const auto altered = inside.run(sql::set_role_defaults); !altered)
      return altered.failure();
    return done{};
  });
}

} // namespace

result<std::vector<migration_step>> migrate(session& on,
                                            const std::function<void(std::string_view)>& progress) {
  if (const auto created = create_table(on); !created)
    return created.failure();
  std::vector<migration_step> steps;
  for (const auto& step : all_migrations) {
    const auto applied = apply(on, step);
    if (!applied)
      return applied.failure();
    if (progress)
      progress("migration " + title(step) + (*applied ? ": applied" : ": there already"));
    steps.push_back({step.number, std::string{step.name}, *applied});
  }
  if (const auto defaults = set_role_defaults(on); !defaults)
    return defaults.failure();
  return steps;
}

result<done> check_schema(session& on) {
  const auto rows = on.run(sql::has_migrations_table);
  if (!rows)
    return rows.failure();
  const error missing{error_kind::refused,
                      "the database lacks migrations: run `paceline migrate` first"};
  if (!(*rows)[0][0].as<bool>())
    return missing;
  auto landed = landed_migrations(on);
  if (!landed)
    return landed.failure();
  if (landed->size() < all_migrations.size())
    return missing;
  // Newer ones only expand: while a cluster is updated, its old nodes work on.
  landed->resize(all_migrations.size());
  return check_landed(*landed);
}

} // namespace paceline
