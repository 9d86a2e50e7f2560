#include "storage/contents.hpp"

#include <initializer_list>
#include <memory>
#include <string_view>

#include <openssl/evp.h>

#include "storage/content_row.hpp"
#include "storage/sql/queries.hpp"

namespace paceline {
namespace {

std::string hex(const std::array<std::uint8_t, 32>& bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const auto byte : bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

/// Error `data` where the stored hash is not that of what is stored.
result<content> checked_content(content_id id, const pqxx::row& row) {
  content found{id,
                row["sender"].c_str(),
                row["subject"].c_str(),
                row["text_body"].c_str(),
                row["html_body"].c_str(),
                row["headers"].c_str()};
  if (hex(content_hash(found)) != row["hash"].c_str())
    return error{error_kind::data,
                 "content " + std::to_string(id.value()) + " was edited: its hash differs"};
  return found;
}

} // namespace

std::array<std::uint8_t, 32> content_hash(const content& what) {
  std::string input;
  for (const std::string_view part :
       {std::string_view{what.sender}, std::string_view{what.subject},
        std::string_view{what.text_body}, std::string_view{what.html_body},
        std::string_view{what.headers}}) {
    // The length in front, so that text moved from one part to the next gives another hash.
    input += std::to_string(part.size());
    input += ':';
    input += part;
  }
  std::array<std::uint8_t, 32> hash{};
  unsigned int size = 0;
  EVP_Digest(input.data(), input.size(), hash.data(), &size, EVP_sha256(), nullptr);
  return hash;
}

result<done> insert_content(session& on, project_id project, const content& what) {
  const auto inserted =
      on.run(sql::insert_content, what.id, project, bytea_literal(content_hash(what)), what.sender,
             what.subject, what.text_body, what.html_body, what.headers);
  if (!inserted)
    return inserted.failure();
  return done{};
}

std::unordered_map<content_id, result<loaded_content>> load_contents(
    session& on, const std::vector<content_id>& ids) {
  std::unordered_map<content_id, result<loaded_content>> loaded;
  const auto rows = on.run(sql::load_contents, array_literal(ids));
  if (rows)
    for (const auto& row : *rows) {
      const content_id id{row["id"].as<std::int64_t>()};
      auto found = checked_content(id, row);
      if (found)
        loaded.emplace(id, loaded_content{std::move(*found), row["sender_allowed"].as<bool>()});
      else
        loaded.emplace(id, found.failure());
    }
  for (const auto id : ids)
    loaded.try_emplace(id,
                       rows ? error{error_kind::not_found, "content " + std::to_string(id.value())}
                            : rows.failure());
  return loaded;
}

result<content> load_content(session& on, content_id id) {
  auto loaded = load_contents(on, {id}).at(id);
  if (!loaded)
    return loaded.failure();
  return std::move(loaded->what);
}

} // namespace paceline
