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

/// What comes in parts, each with its length in front, so that text moved from one part to the next
/// gives another hash.
class part_hash {
public:
  part_hash() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr);
  }
  void add(std::string_view part) {
    add_raw(std::to_string(part.size()) + ':');
    add_raw(part);
  }
  std::array<std::uint8_t, 32> finish() {
    std::array<std::uint8_t, 32> hash{};
    EVP_DigestFinal_ex(context_.get(), hash.data(), nullptr);
    return hash;
  }

private:
  void add_raw(std::string_view octets) {
    EVP_DigestUpdate(context_.get(), octets.data(), octets.size());
  }
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

std::span<const std::uint8_t> octets_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

result<std::vector<attachment>> load_attachments(session& on, content_id id) {
  const auto rows = on.run(sql::load_attachments, id);
  if (!rows)
    return rows.failure();
  std::vector<attachment> all;
  for (const auto& row : *rows) {
    const pqxx::binarystring data{row[3]};
    all.push_back(
        {row[0].c_str(), row[1].c_str(), row[2].c_str(), std::string{data.get(), data.size()}});
  }
  return all;
}

/// Error `data` where the stored hash is not that of what is stored.
result<content> checked_content(session& on, content_id id, const pqxx::row& row) {
  content found{.id = id,
                .sender = row["sender"].c_str(),
                .subject = row["subject"].c_str(),
                .text_body = row["text_body"].c_str(),
                .html_body = row["html_body"].c_str(),
                .headers = row["headers"].c_str(),
                .missing = static_cast<missing_field>(row["missing"].as<std::int16_t>()),
                .defaults = row["defaults"].c_str()};
  if (row["has_attachments"].as<bool>()) {
    auto attachments = load_attachments(on, id);
    if (!attachments)
      return attachments.failure();
    found.attachments = std::move(*attachments);
  }
  if (hex(content_hash(found)) != row["hash"].c_str())
    return error{error_kind::data,
                 "content " + std::to_string(id.value()) + " was edited: its hash differs"};
  return found;
}

} // namespace

std::array<std::uint8_t, 32> content_hash(const content& what) {
  part_hash hash;
  for (const std::string_view part :
       {std::string_view{what.sender}, std::string_view{what.subject},
        std::string_view{what.text_body}, std::string_view{what.html_body},
        std::string_view{what.headers}})
    hash.add(part);
  if (what.missing != missing_field::empty)
    hash.add("missing " + std::to_string(static_cast<int>(what.missing)));
  if (what.defaults != "{}")
    hash.add("defaults " + what.defaults);
  for (const auto& one : what.attachments) {
    hash.add("attachment");
    for (const std::string_view part :
         {std::string_view{one.name}, std::string_view{one.media_type},
          std::string_view{one.content_id}, std::string_view{one.data}})
      hash.add(part);
  }
  return hash.finish();
}

result<done> insert_content(session& on, project_id project, const content& what) {
  const auto inserted =
      on.run(sql::insert_content, what.id, project, bytea_literal(content_hash(what)), what.sender,
             what.subject, what.text_body, what.html_body, what.headers,
             static_cast<std::int16_t>(what.missing), what.defaults);
  if (!inserted)
    return inserted.failure();
  // One statement each: their text is twice as long as they are.
  for (std::size_t i = 0; i < what.attachments.size(); ++i) {
    const auto& one = what.attachments[i];
    const auto attached = on.run(sql::insert_attachment, what.id, i, one.name, one.media_type,
                                 one.content_id, bytea_literal(octets_of(one.data)));
    if (!attached)
      return attached.failure();
  }
  return done{};
}

std::unordered_map<content_id, result<loaded_content>> load_contents(
    session& on, const std::vector<content_id>& ids) {
  std::unordered_map<content_id, result<loaded_content>> loaded;
  const auto rows = on.run(sql::load_contents, array_literal(ids));
  if (rows)
    for (const auto& row : *rows) {
      const content_id id{row["id"].as<std::int64_t>()};
      auto found = checked_content(on, id, row);
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
