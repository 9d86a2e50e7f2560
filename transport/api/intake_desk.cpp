#include "transport/api/intake_desk.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace paceline {
namespace {

constexpr std::size_t group_calls = 200, group_messages = 5000, group_bytes = 8u << 20;
/// A statement for so many messages takes several times what any statement takes.
constexpr std::size_t worth_a_statement = 500;
/// The one that runs must be waiting for something.
constexpr std::chrono::milliseconds longest_turn{50};
/// Between two tries of a database that is away; the pool itself backs off from connecting.
constexpr std::chrono::milliseconds retry_pause{50};

/// A file travels as hexadecimal digits: it is counted with the text that is made of it.
std::size_t attached_bytes(const content& of) {
  std::size_t sum = 0;
  for (const auto& one : of.attachments)
    sum += 3 * one.data.size() + one.name.size();
  return sum;
}

std::size_t bytes_of(const intake_call& call) {
  constexpr std::size_t per_message = 200; ///< the row beside what is counted here
  std::size_t sum = 0;
  for (const auto& content : call.contents)
    sum += content.subject.size() + content.text_body.size() + content.html_body.size()
           + content.headers.size() + content.defaults.size() + attached_bytes(content);
  for (const auto& message : call.messages) {
    sum += per_message + message.fields.size();
    for (const auto& recipient : message.recipients)
      sum += recipient.size();
  }
  return sum;
}

std::vector<const intake_call*> calls_of(const auto& tickets) {
  std::vector<const intake_call*> calls;
  for (const auto* one : tickets)
    calls.push_back(&one->job->call);
  return calls;
}

} // namespace

intake_desk::intake_desk(database_pool& pool, id_desk& ids, intake_desk_options options)
    : pool_(pool), ids_(ids), options_(options) {}

intake_desk::~intake_desk() {
  std::unique_lock lock{mutex_};
  stopping_ = true;
  idle_.notify_all();
  idle_.wait(lock, [this] { return statements_ == 0; });
}

result<intake_reply> intake_desk::take(intake_job& job) {
  ticket mine;
  mine.job = &job;
  mine.bytes = bytes_of(job.call);
  mine.came = std::chrono::steady_clock::now();
  give_ids(job);
  std::unique_lock lock{mutex_};
  if (stopping_ || waiting_.size() >= options_.most_calls
      || (waiting_bytes_ > 0 && waiting_bytes_ + mine.bytes > options_.most_bytes))
    return error{error_kind::overloaded,
                 "Too many requests wait to be stored; nothing of this one was. Try again."};
  waiting_.push_back(&mine);
  waiting_bytes_ += mine.bytes;
  waiting_messages_ += job.call.messages.size();
  start_statement();
  if (wait(lock, mine))
    return std::move(*mine.answer);
  forget(mine);
  if (mine.in_doubt)
    return error{error_kind::in_doubt, "The database has not said whether this was stored."};
  return mine.last_failure.value_or(
      error{error_kind::unavailable, "No database connection was free in time."});
}

/// True once there is an answer; false if patience ended while the ticket waited in the queue.
bool intake_desk::wait(std::unique_lock<std::mutex>& lock, ticket& one) {
  const auto turn = one.came + longest_turn;
  bool had_turn = false;
  while (!one.answer) {
    const auto end = one.came + (one.in_doubt ? options_.doubt_patience : options_.store_patience);
    // A ticket that is being stored is answered or put back: both within the statement's timeout.
    if (!one.is_waiting) {
      one.answered.wait(lock);
      continue;
    }
    const auto until = had_turn ? end : std::min(turn, end);
    if (one.answered.wait_until(lock, until) != std::cv_status::timeout || !one.is_waiting
        || one.answer)
      continue;
    if (until == end)
      return false;
    // Nobody else may come and ask whether it is time for another statement.
    had_turn = true;
    start_statement();
  }
  return true;
}

void intake_desk::forget(ticket& one) {
  std::erase(waiting_, &one);
  waiting_bytes_ -= one.bytes;
  waiting_messages_ -= one.job->call.messages.size();
}

void intake_desk::give_ids(intake_job& job) {
  ids_.give_ids(job.call);
  job.response = job.respond(job.call);
  if (job.call.once) {
    job.call.once->status = job.status;
    job.call.once->response = job.response;
  }
}

/// Called with the lock held.
void intake_desk::start_statement() {
  if (waiting_.empty() || is_coming_ || statements_ >= options_.statements
      || (statements_ > 0 && !deserves_another()))
    return;
  // Where the pool is full, what runs or the next call starts the next.
  try {
    is_coming_ = pool_.submit([this](session* on, const error& why) { serve(on, why); });
  } catch (const std::exception&) {
    return; // as where the pool is full
  }
  statements_ += is_coming_ ? 1 : 0;
}

bool intake_desk::deserves_another() const {
  return waiting_messages_ >= worth_a_statement
         || std::chrono::steady_clock::now() - waiting_.front()->came >= longest_turn;
}

/// No exception leaves it, and no ticket stays without an answer: its thread waits for one.
void intake_desk::work_off(session* on, const error& why) {
  group tickets;
  try {
    take_group(tickets);
    if (on == nullptr)
      put_back(tickets, why);
    else if (!tickets.empty())
      store(*on, tickets);
  } catch (const std::exception& thrown) {
    const error failure{error_kind::internal, std::string{"storing has thrown: "} + thrown.what()};
    for (auto*& one : tickets)
      answer(one, failure);
  }
}

void intake_desk::serve(session* on, const error& why) {
  work_off(on, why);
  std::unique_lock lock{mutex_};
  // One thread pauses for all: nothing is gained by asking an absent database more often.
  if (on == nullptr && !stopping_)
    idle_.wait_for(lock, retry_pause, [this] { return stopping_; });
  --statements_;
  if (!stopping_)
    start_statement();
  idle_.notify_all();
}

void intake_desk::take_group(group& taken) {
  const std::lock_guard lock{mutex_};
  is_coming_ = false;
  taken.reserve(std::min(group_calls, waiting_.size()));
  std::size_t messages = 0, bytes = 0;
  while (!waiting_.empty() && taken.size() < group_calls) {
    auto* const next = waiting_.front();
    const auto count = next->job->call.messages.size();
    if (!taken.empty()
        && (next->in_doubt != taken.front()->in_doubt || messages + count > group_messages
            || bytes + next->bytes > group_bytes))
      break;
    messages += count;
    bytes += next->bytes;
    waiting_bytes_ -= next->bytes;
    waiting_messages_ -= count;
    next->is_waiting = false;
    taken.push_back(next);
    waiting_.pop_front();
  }
  start_statement(); // for what did not fit
}

void intake_desk::store(session& on, group& tickets) {
  const auto calls = calls_of(tickets);
  if (options_.on_statement)
    options_.on_statement(calls.size());
  auto replies = take_in(on, calls, tickets.front()->in_doubt);
  if (replies)
    return settle(tickets, std::move(*replies));
  const auto failure = replies.failure();
  if (failure.is_retryable())
    return put_back(tickets, failure);
  if (failure.kind == error_kind::data)
    for (auto*& one : tickets)
      store_alone(on, one);
  else
    for (auto*& one : tickets)
      answer(one, failure);
}

/// One call of a group in which something could not be stored: as it is, then with fresh ids.
void intake_desk::store_alone(session& on, ticket*& one) {
  const auto* call = &one->job->call;
  const bool was_in_doubt = one->in_doubt;
  auto replies = take_in(on, {&call, 1}, was_in_doubt);
  // In doubt the old ids may be stored: fresh ones would store the call twice.
  if (!replies && replies.failure().kind == error_kind::data && !was_in_doubt) {
    give_ids(*one->job);
    replies = take_in(on, {&call, 1});
  }
  if (replies)
    settle({&one, 1}, std::move(*replies));
  else if (replies.failure().is_retryable())
    put_back({&one, 1}, replies.failure());
  else
    answer(one, replies.failure());
}

void intake_desk::settle(std::span<ticket*> tickets, std::vector<intake_reply> replies) {
  for (std::size_t i = 0; i < tickets.size(); ++i)
    if (i < replies.size())
      answer(tickets[i], std::move(replies[i]));
    else
      answer(tickets[i], error{error_kind::internal, "take_in has given too few answers"});
}

void intake_desk::put_back(std::span<ticket*> tickets, const error& why) {
  const std::lock_guard lock{mutex_};
  for (auto one = tickets.rbegin(); one != tickets.rend(); ++one) {
    auto& back = **one;
    back.last_failure = why;
    waiting_.push_front(&back);
    *one = nullptr;
    back.in_doubt = back.in_doubt || why.kind == error_kind::in_doubt;
    back.is_waiting = true;
    waiting_bytes_ += back.bytes;
    waiting_messages_ += back.job->call.messages.size();
    back.answered.notify_one(); // its patience counts again
  }
}

void intake_desk::answer(ticket*& one, result<intake_reply> with) {
  if (one == nullptr)
    return;
  const std::lock_guard lock{mutex_};
  one->answer.emplace(std::move(with));
  one->answered.notify_one(); // under the lock: the ticket is gone once its thread runs
  one = nullptr;
}

} // namespace paceline
