/// The part that cpp-httplib does: it parses request line and query, calls us, and writes the
/// answer with its headers. It sees no socket: the request is in memory, and so is the answer.
///
/// Of the headers it is given none, since it would decode `%` in their values, compress by
/// Accept-Encoding and cut by Range.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "transport/http/message.hpp"

namespace paceline {

/// Used by one thread at a time; each thread has its own.
class answerer {
public:
  struct target {
    std::string path; ///< decoded once
    std::vector<std::pair<std::string, std::string>> query;
  };
  using producer = std::function<http_response(target)>;

  answerer();
  ~answerer();

  /// The bytes of the whole answer. `method` and `raw_target` come from a checked head; `produce`
  /// must not throw; `closes` says so to the client.
  std::string answer(std::string_view method, std::string_view raw_target, bool closes,
                     const producer& produce);

private:
  class library;
  std::unique_ptr<library> library_;
};

} // namespace paceline
