/// One call from the moment its slot came until the provider has let go of it. Lives on the
/// courier's thread. The courier and the provider's answer function share it, so that it stays
/// valid for a provider that answers after the courier has given up waiting.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <optional>

#include "transport/providers/provider.hpp"
#include "transport/courier.hpp"

namespace paceline {

class active_call;

/// Why a call may not be written now, or nothing; and hears of every start.
class write_permit {
public:
  virtual ~write_permit() = default;
  virtual std::optional<reason_code> refusal(const send_order& order, boot_instant now) = 0;
  virtual boot_instant now() const = 0;
  virtual void wrote(const active_call& what, nanoseconds lateness) = 0;
};

class active_call final : public call {
public:
  enum class stage {
    open,    ///< waiting for the answer
    expired, ///< reported as unknown; an answer may still come and is reported then
    settled, ///< nothing more will be reported
  };

  /// `permit` must outlive the call's stages open and expired, and so must `measured`, which counts
  /// the calls of the order's route.
  active_call(write_permit& permit, call_instruments& measured, send_order order,
              boot_instant began)
      : permit_(permit), measured_(measured), order_(std::move(order)), began_(began) {}

  const outgoing_message& message() const override { return *order_.message; }
  bool may_write() override;
  bool is_refused() const override;
  database_instant slot() const override { return order_.slot; }
  database_instant started_at() const override { return started_at_; }

  const send_order& order() const { return order_; }
  boot_instant began() const { return began_; }
  bool written() const { return written_; }
  call_instruments& measured() const { return measured_; }
  /// Takes the permission to write away, if it has not been used. The reason of an earlier refusal
  /// stays.
  void refuse(reason_code reason);

  /// The provider's answer with what only the courier knows.
  outcome outcome_of(provider_answer answer) const;

  stage at = stage::open;
  bool is_probe = false; ///< the breaker lets it find out whether the provider works again
  std::list<std::shared_ptr<active_call>>::iterator place; ///< among the open calls

private:
  write_permit& permit_;
  call_instruments& measured_;
  send_order order_;
  boot_instant began_;
  database_instant started_at_{};
  bool asked_ = false;
  bool written_ = false;
  std::optional<reason_code> refusal_;
};

} // namespace paceline
