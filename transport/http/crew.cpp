#include "transport/http/crew.hpp"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <csignal>
#include <system_error>
#include <utility>

namespace paceline {
namespace {

constexpr std::uint64_t wake_key = ~std::uint64_t{0};

/// Threads that get so much done between two looks (a millisecond) wait for no one but the
/// processor; more of them would only stand in each other's way.
constexpr std::uint64_t enough_per_look = 10;

int checked(int descriptor, const char* what) {
  if (descriptor < 0)
    throw std::system_error(errno, std::generic_category(), what);
  return descriptor;
}

} // namespace

std::thread start_quiet_thread(const std::string& name, std::function<void()> run) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread started;
  try {
    started = std::thread(std::move(run));
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_setname_np(started.native_handle(), name.substr(0, 15).c_str());
  return started;
}

crew::crew(std::string name, int most, std::chrono::milliseconds idle,
           std::function<job()> make_job, std::function<void()> wants_help)
    : name_(std::move(name)), most_(most), idle_ms_(static_cast<int>(idle.count())),
      make_job_(std::move(make_job)), wants_help_(std::move(wants_help)),
      epoll_(checked(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
      wake_(checked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = wake_key;
  checked(::epoll_ctl(epoll(), EPOLL_CTL_ADD, wake_.number(), &event), "epoll_ctl");
  start_one();
}

crew::~crew() {
  stop();
}

void crew::start_one() {
  auto& added = members_.emplace_back();
  threads_.fetch_add(1);
  try {
    added.thread = start_quiet_thread(name_, [this, &added] { run(added); });
  } catch (const std::system_error&) {
    // Without memory for a thread the others go on.
    members_.pop_back();
    threads_.fetch_sub(1);
    if (members_.empty())
      throw;
  }
}

void crew::run(member& self) {
  auto work = make_job_();
  while (!stopping_.load()) {
    epoll_event event{};
    waiting_.fetch_add(1);
    int ready = ::epoll_wait(epoll(), &event, 1, idle_ms_);
    if (ready == 0 && leaves()) {
      self.has_ended.store(true);
      wants_help_(); // Whoever grows the crew also joins this thread, so that its stack goes back.
      return;
    }
    waiting_.fetch_sub(1);
    if (ready <= 0 || event.data.u64 == wake_key)
      continue;
    work(event.data.u64);
    jobs_done_.fetch_add(1, std::memory_order_relaxed);
  }
  threads_.fetch_sub(1);
  self.has_ended.store(true);
}

/// The caller still counts as one that waits; the last of these stays, since others may be busy for
/// long. One that has just got a job sees afterwards that nobody waits, and asks for help.
bool crew::leaves() {
  auto waiting = waiting_.load();
  while (waiting > 1)
    if (waiting_.compare_exchange_weak(waiting, waiting - 1)) {
      threads_.fetch_sub(1);
      return true;
    }
  return false;
}

void crew::may_block() {
  if (waiting_.load(std::memory_order_relaxed) > 0 || threads_.load() >= most_)
    return;
  if (!help_wanted_.exchange(true))
    wants_help_();
}

bool crew::grow() {
  join_ended();
  if (!help_wanted_.load())
    return false;
  auto done = jobs_done_.load();
  auto since = done - std::exchange(jobs_at_last_look_, done);
  auto count = threads_.load();
  bool is_enough = waiting_.load() > 0 || count >= most_;
  if (is_enough) {
    help_wanted_.store(false);
    return false;
  }
  // A second thread at once, so that one request after the other asks nobody for help.
  if (count == 1 || since < enough_per_look)
    start_one();
  return true;
}

void crew::join_ended() {
  std::erase_if(members_, [](member& each) {
    if (!each.has_ended.load())
      return false;
    each.thread.join();
    return true;
  });
}

void crew::stop() {
  stopping_.store(true);
  std::uint64_t one = 1;
  [[maybe_unused]] auto written = ::write(wake_.number(), &one, sizeof one);
  for (auto& each : members_)
    each.thread.join();
  members_.clear();
}

} // namespace paceline
