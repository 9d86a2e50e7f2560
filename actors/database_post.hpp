/// From an actor to a database thread and back.
///
/// The work runs on one of the pool's threads; its result reaches the actor as a message, through
/// the actor's weak address. A full queue answers at once with `overloaded`.
#pragma once

#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

#include <caf/all.hpp>

#include "storage/pool.hpp"

namespace paceline {

/// Sends to an actor from a foreign thread; does nothing if it is gone.
template <class Message>
void tell(const caf::actor_addr& to, Message message) {
  if (auto alive = caf::actor_cast<caf::actor>(to))
    caf::anon_send(alive, std::move(message));
}

/// Runs `work(session&) -> result<T>` on `pool` and sends what `wrap(shared_result<T>)` makes of
/// it. `work` must be copyable; it is called once.
template <class Work, class Wrap>
void post(database_pool& pool, const caf::actor_addr& reply_to, Work work, Wrap wrap) {
  using outcome_type = std::invoke_result_t<Work&, session&>;
  auto task = [reply_to, wrap, work = std::move(work)](session* opened, const error& why) mutable {
    auto value = outcome_type{why};
    try {
      if (opened)
        value = work(*opened);
    } catch (const std::exception& unforeseen) {
      // A row that is not of this program's schema: said where it can be seen, not fatal.
      value = error{error_kind::internal, unforeseen.what()};
    }
    tell(reply_to, wrap(std::make_shared<const outcome_type>(std::move(value))));
  };
  if (!pool.submit(std::move(task)))
    tell(reply_to, wrap(std::make_shared<const outcome_type>(
                       error{error_kind::overloaded, "the database queue of this node is full"})));
}

} // namespace paceline
