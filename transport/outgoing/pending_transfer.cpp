#include "transport/outgoing/pending_transfer.hpp"

#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>
#include <string_view>
#include <utility>

#include "transport/outgoing/address_rules.hpp"
#include "transport/outgoing/connection_rules.hpp"

namespace paceline {
namespace {

/// What the connection of a transfer that is about to write agreed on (RFC 7301).
host_protocol agreed_on(CURL* handle) {
  curl_tlssessioninfo* session = nullptr;
  if (curl_easy_getinfo(handle, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || !session
      || session->backend != CURLSSLBACKEND_OPENSSL || !session->internals)
    return host_protocol::http1;
  const unsigned char* name = nullptr;
  unsigned length = 0;
  SSL_get0_alpn_selected(static_cast<const SSL*>(session->internals), &name, &length);
  std::string_view chosen{reinterpret_cast<const char*>(name), length};
  return chosen == "h2" ? host_protocol::http2 : host_protocol::http1;
}

} // namespace

std::string origin_of(const std::string& url) {
  auto scheme = url.find("://");
  return scheme == url.npos ? url : url.substr(0, url.find_first_of("/?#", scheme + 3));
}

pending_transfer::pending_transfer(CURL* handle, engine_state& shared, const std::string& url)
    : handle_(handle), shared_(shared), origin_(origin_of(url)) {
  if (!handle_)
    throw std::runtime_error("libcurl: no memory for a transfer");
  set_connection_rules(handle_, shared_.options);
  set_http_version(handle_, false);
  curl_easy_setopt(handle_, CURLOPT_URL, url.c_str());
  curl_easy_setopt(handle_, CURLOPT_PRIVATE, this);
  curl_easy_setopt(handle_, CURLOPT_ERRORBUFFER, error_.data());
  curl_easy_setopt(handle_, CURLOPT_PREREQFUNCTION, &pending_transfer::ask);
  curl_easy_setopt(handle_, CURLOPT_PREREQDATA, this);
  curl_easy_setopt(handle_, CURLOPT_OPENSOCKETFUNCTION, &pending_transfer::open_socket);
  curl_easy_setopt(handle_, CURLOPT_OPENSOCKETDATA, this);
  // A connection outlives the transfer that opened it, so its end is told to what all share.
  curl_easy_setopt(handle_, CURLOPT_CLOSESOCKETFUNCTION, &pending_transfer::close_socket);
  curl_easy_setopt(handle_, CURLOPT_CLOSESOCKETDATA, &shared_);
}

pending_transfer::~pending_transfer() {
  if (handle_)
    curl_easy_cleanup(handle_);
}

CURL* pending_transfer::release(CURLcode code) {
  // A handle keeps the mark of a refused stream even when it is reset, and would later take an
  // ambiguous loss for a refusal. So only those that never failed are used again.
  if (code != CURLE_OK)
    return nullptr;
  curl_easy_reset(handle_);
  return std::exchange(handle_, nullptr);
}

void pending_transfer::listen(departures& seen) {
  departures_ = &seen;
  curl_easy_setopt(handle_, CURLOPT_DEBUGFUNCTION, &pending_transfer::hear);
  curl_easy_setopt(handle_, CURLOPT_DEBUGDATA, this);
  curl_easy_setopt(handle_, CURLOPT_VERBOSE, 1L);
}

void pending_transfer::expect(std::function<bool()> may_write,
                              std::function<void(curl_transfer&, const transfer_result&)> done,
                              std::function<void(host_protocol)> connected) {
  may_write_ = std::move(may_write);
  done_ = std::move(done);
  connected_ = std::move(connected);
}

int pending_transfer::ask(void* self, char*, char*, int, int) {
  auto& transfer = *static_cast<pending_transfer*>(self);
  auto& facts = transfer.facts_;
  if (facts.asked) {
    facts.repeated = true;
    return CURL_PREREQFUNC_ABORT;
  }
  facts.asked = true;
  if (auto connected = std::exchange(transfer.connected_, {}))
    connected(agreed_on(transfer.handle_));
  facts.said_no = !transfer.may_write_();
  return facts.said_no ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

int pending_transfer::hear(CURL*, curl_infotype kind, char* text, std::size_t size, void* self) {
  auto& transfer = *static_cast<pending_transfer*>(self);
  if (kind == CURLINFO_TEXT)
    note_line({text, size}, transfer.facts_.asked, transfer.notes_, *transfer.departures_);
  return 0;
}

curl_socket_t pending_transfer::open_socket(void* self, curlsocktype, curl_sockaddr* address) {
  auto& transfer = *static_cast<pending_transfer*>(self);
  if (!transfer.shared_.options.allow_private && !is_public_address(address->addr)) {
    transfer.refused_address_ = text_of(address->addr);
    return CURL_SOCKET_BAD;
  }
  auto opened = ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  if (opened >= 0)
    ++transfer.shared_.connections;
  return opened;
}

int pending_transfer::close_socket(void* shared, curl_socket_t socket) {
  --static_cast<engine_state*>(shared)->connections;
  return ::close(socket);
}

std::string pending_transfer::diagnose(CURLcode code) const {
  if (facts_.repeated)
    return "the connection ended before an answer";
  std::string text = error_[0] ? error_.data() : curl_easy_strerror(code);
  if (!facts_.asked && !refused_address_.empty())
    text += "; " + refused_address_ + " is no public address, and allow_private is off";
  return text;
}

transfer_result pending_transfer::result(CURLcode code) const {
  auto facts = facts_;
  facts.code = code;
  facts.not_taken = notes_.refused || (departures_ && departures_->excludes(notes_));
  transfer_result made;
  made.end = judge(facts);
  made.code = code;
  made.bad_certificate = made.end == transfer_end::not_written && is_bad_certificate(code);
  if (made.end == transfer_end::refused)
    made.diagnostic = "stopped right before the first byte";
  else if (made.end == transfer_end::not_taken)
    made.diagnostic = "the peer refused the stream";
  else if (made.end != transfer_end::answered)
    made.diagnostic = diagnose(code);
  return made;
}

void pending_transfer::end(CURLcode code) {
  auto done = std::exchange(done_, {});
  done(*this, result(code));
}

} // namespace paceline
