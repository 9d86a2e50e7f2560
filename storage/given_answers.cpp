#include "storage/given_answers.hpp"

#include "storage/session.hpp"
#include "storage/sql/queries.hpp"

namespace paceline {

result<std::optional<intake_reply>> find_given_answer(
    session& on, project_id project, std::string_view environment, std::string_view key,
    const std::array<std::uint8_t, 32>& body_hash) {
  const auto rows =
      on.run(sql::find_answers, array_literal(std::array{project}),
             text_array_literal(std::array{environment}), text_array_literal(std::array{key}),
             text_array_literal(std::array{bytea_literal(body_hash)}));
  if (!rows)
    return rows.failure();
  const auto row = (*rows)[0];
  if (row["status"].is_null())
    return std::optional<intake_reply>{};
  intake_reply reply;
  reply.verdict = row["same"].as<bool>() ? intake_verdict::replayed : intake_verdict::other_body;
  reply.status = row["status"].as<std::int16_t>();
  reply.response = row["response"].as<std::string>();
  return std::optional{std::move(reply)};
}

} // namespace paceline
