#include "transport/courier_inbox.hpp"

#include <utility>

namespace paceline {

bool courier_inbox::post(request what) {
  {
    std::lock_guard lock{mutex_};
    if (closed_)
      return false;
    requests_.push_back(std::move(what));
    if (requests_.size() > 1)
      return true; // whoever came first has woken the courier, and it has not looked since
  }
  wakes_.wake();
  return true;
}

void courier_inbox::take(std::vector<request>& into) {
  into.clear();
  std::lock_guard lock{mutex_};
  into.swap(requests_);
}

void courier_inbox::close(std::vector<request>& into) {
  into.clear();
  std::lock_guard lock{mutex_};
  closed_ = true;
  into.swap(requests_);
}

} // namespace paceline
