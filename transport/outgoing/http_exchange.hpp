/// One request and its bounded answer, between `http_client` and libcurl.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <curl/curl.h>

#include "transport/outgoing/http_client.hpp"

namespace paceline {

/// What is wrong with it, for people; empty if nothing is.
std::string complaint_about(const outgoing_request& what);

/// Stays where it is while libcurl works with it.
class http_exchange {
public:
  explicit http_exchange(outgoing_request what) : request_(std::move(what)) {}
  http_exchange(const http_exchange&) = delete;
  http_exchange& operator=(const http_exchange&) = delete;

  /// False without memory.
  bool set_up(CURL* handle);
  http_result take(CURL* handle, const transfer_result& ended);

private:
  static std::size_t take_header(char* line, std::size_t, std::size_t size, void* self);
  static std::size_t take_body(char* octets, std::size_t, std::size_t size, void* self);
  bool add_header(std::string_view line);
  bool list_headers();
  bool append(const char* line);
  void set_method(CURL* handle) const;

  struct free_list {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
  };

  outgoing_request request_;
  std::unique_ptr<curl_slist, free_list> headers_;
  http_result result_;
  std::size_t header_octets_ = 0; ///< of all answers, interim ones too
  std::size_t header_lines_ = 0;
  bool has_whole_head_ = false; ///< the empty line behind the headers came
};

} // namespace paceline
