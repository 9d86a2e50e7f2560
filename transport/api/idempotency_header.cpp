#include "transport/api/idempotency_header.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <memory>

namespace paceline {
namespace {

constexpr std::size_t max_key = 255;

} // namespace

idempotency_reading read_idempotency_key(const http_request& request) {
  const auto given = request.header("Idempotency-Key");
  if (!given)
    return {};
  if (request.count("Idempotency-Key") > 1)
    return {std::nullopt, "is there more than once"};
  if (given->empty() || given->size() > max_key
      || !std::all_of(given->begin(), given->end(), [](char c) { return c >= 32 && c < 127; }))
    return {std::nullopt, "must be 1 to 255 printable ASCII characters"};
  return {std::string{*given}, {}};
}

std::array<std::uint8_t, 32> request_hash(const http_request& request) {
  std::array<std::uint8_t, 32> hash{};
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context{EVP_MD_CTX_new(),
                                                                        EVP_MD_CTX_free};
  const auto begin = request.method + "\n" + request.path + "\n";
  EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr);
  EVP_DigestUpdate(context.get(), begin.data(), begin.size());
  EVP_DigestUpdate(context.get(), request.body.data(), request.body.size());
  EVP_DigestFinal_ex(context.get(), hash.data(), nullptr);
  return hash;
}

keys_in_work::holder::~holder() {
  if (of_ == nullptr)
    return;
  const std::lock_guard lock{of_->mutex_};
  of_->held_.erase(name_);
}

std::optional<keys_in_work::holder> keys_in_work::hold(project_id project,
                                                       std::string_view environment,
                                                       std::string_view key) {
  auto name =
      std::to_string(project.value()) + "/" + std::string{environment} + "/" + std::string{key};
  const std::lock_guard lock{mutex_};
  if (!held_.insert(name).second)
    return std::nullopt;
  return std::optional<holder>{std::in_place, *this, std::move(name)};
}

} // namespace paceline
