/// Amazon SES v2 as a stand-in: SendEmail with a raw message, GetAccount, and what describes an
/// account. Errors have the bodies and headers of the real service.
///
/// SendEmail: signature, then the request's shape, then the fault that is switched on, then what
/// the recipient asks for, then the quota, where n recipients cost n. Paths as in the API reference
/// of SES v2; SNS's query API answers `POST /`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tools/simulators/http_service.hpp"
#include "tools/simulators/ses_account.hpp"
#include "tools/simulators/signature_check.hpp"
#include "tools/simulators/simulation.hpp"

namespace paceline::simulators {

class ses_service final : public http_service {
public:
  ses_service(simulation& with, ses_account& account, const signing_account& credentials)
      : with_(with), account_(account), signatures_(credentials), region_(credentials.region) {}

  bool resets_unread(bool is_reused) override;
  http_answer answer(http_request& what) override;
  nanoseconds connected() override { return with_.take_connection(); }

private:
  struct email;

  http_answer answer_in_time(http_request& what);
  http_answer send(http_request& what, behaviour fault);
  http_answer refusal_answer(behaviour why, const email& what) const;
  http_answer account_fault(behaviour how) const;
  http_answer take(const email& what, behaviour how);
  std::string next_id();

  simulation& with_;
  ses_account& account_;
  signature_check signatures_;
  std::string region_;
  std::uint64_t ids_ = 0;
};

} // namespace paceline::simulators
