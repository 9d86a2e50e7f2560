/// The request of a batch: its JSON and its idempotency key. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "transport/providers/provider.hpp"

namespace paceline {

/// Appends the message as one element of the array.
///
/// `to` and `cc` are the mailboxes as given, without those that are no recipients (any more);
/// recipients in neither are `bcc`. Where that leaves no `to`, the first visible one moves up, and
/// a message with a single recipient shows it. False, and nothing appended, where only hidden
/// recipients are left: the provider needs a visible one.
bool append_batch_item(std::string& to, const outgoing_message& message);

/// About what `append_batch_item` will append, in octets.
std::size_t batch_item_size(const outgoing_message& message);

/// The same for the same attempts, in whatever order: 64 hexadecimal digits of SHA-256 behind a
/// prefix.
std::string batch_idempotency_key(std::span<const attempt> attempts);

} // namespace paceline
