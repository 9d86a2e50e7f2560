#include "transport/api/message_request.hpp"

#include <algorithm>

#include "config/text.hpp"
#include "transport/api/mailboxes.hpp"
#include "transport/api/shared_fields.hpp"

namespace paceline {
namespace {

constexpr unix_us hour_us = 3'600'000'000;
constexpr unix_us day_us = 24 * hour_us;

/// Tags and times: of one message, or of a batch for all that have none of their own.
struct options {
  std::optional<std::string> tags;
  std::optional<unix_us> send_at, expires_at;
};

class message_reader {
public:
  message_reader(unix_us now, problem_list& problems)
      : now_(now), problems_(problems), send_range_{now - hour_us, now + 366 * day_us,
                                                    "from 1 hour ago to 366 days ahead"},
        expiry_range_{now, now + 732 * day_us, "from now to 732 days ahead"} {}

  options read_options(object_fields& from, const options& defaults) const {
    options made;
    made.tags = read_tags(from);
    made.send_at = from.time("send_at", send_range_);
    made.expires_at = from.time("expires_at", expiry_range_);
    const bool own_time = made.send_at || made.expires_at;
    if (!made.tags)
      made.tags = defaults.tags;
    if (!made.send_at)
      made.send_at = defaults.send_at;
    const bool own_expiry = made.expires_at.has_value();
    if (!own_expiry)
      made.expires_at = defaults.expires_at;
    if (own_time && made.expires_at && *made.expires_at <= std::max(now_, made.send_at.value_or(0)))
      from.add(own_expiry ? "expires_at" : "send_at", "expires_at must be after send_at and now");
    return made;
  }

  /// All of a message but its content. `content` is that content, to check subject and headers
  /// with.
  intake_message read(object_fields& from, const options& defaults, std::size_t content_index,
                      const content_reading* content) const {
    intake_message made;
    made.content = content_index;
    envelope to;
    read_envelope(from, to);
    made.recipients = std::move(to.recipients);
    made.addresses = std::move(to.addresses);
    auto chosen = read_options(from, defaults);
    made.tags = std::move(chosen.tags);
    made.send_at = chosen.send_at;
    made.expires_at = chosen.expires_at;
    if (const auto fields = read_fields_object(from)) {
      made.fields = std::string{fields->text()};
      if (fields->has_line_breaks() && content != nullptr)
        if (auto problem = content->header_problem(made.fields))
          from.add("fields", std::move(*problem));
    }
    return made;
  }

private:
  unix_us now_;
  problem_list& problems_;
  time_range send_range_, expiry_range_;
};

class batch_reader {
public:
  batch_reader(unix_us now, problem_list& problems) : problems_(problems), reader_(now, problems) {}

  message_request read(json_value body) {
    const json_place root;
    object_fields from{body, root, problems_};
    made_.priority = static_cast<std::int16_t>(from.integer("priority", 0, 100).value_or(50));
    made_.region = read_region(from);
    defaults_ = reader_.read_options(from, {});
    if (const auto shared = from.find("content")) {
      const json_place place{root, "content"};
      object_fields content{*shared, place, problems_};
      made_.content_is_shared = true;
      made_.contents.push_back(content_reading::read(content));
      content.finish();
      shared_is_good_ = problems_.is_empty();
    }
    from.need("messages", "an array of 1 to 5,000 messages");
    if (const auto messages = from.find("messages"))
      read_messages(*messages, json_place{root, "messages"});
    from.finish();
    return std::move(made_);
  }

private:
  void read_messages(const json_value& messages, const json_place& place) {
    if (messages.kind() != json_kind::array)
      return problems_.add(place, "must be an array, not " + std::string{name(messages.kind())});
    if (messages.size() == 0 || messages.size() > message_request::most)
      return problems_.add(place, "has " + std::to_string(messages.size())
                                      + " messages: 1 to 5,000 are allowed");
    made_.messages.reserve(messages.size());
    std::size_t index = 0;
    for (const auto message : messages) {
      const json_place at{place, index++};
      read_message(message, at);
      if (problems_.is_full())
        return;
    }
  }

  void read_message(const json_value& message, const json_place& place) {
    object_fields from{message, place, problems_};
    const bool has_own = content_reading::is_in(from);
    if (made_.content_is_shared && has_own)
      problems_.add(place, "has content of its own (from, subject, text, html, headers, reply_to, "
                           "attachments, missing or defaults), but the batch has a shared content: "
                           "give one or the other");
    if (!made_.content_is_shared)
      made_.contents.push_back(content_reading::read(from));
    const bool is_good = made_.content_is_shared ? shared_is_good_ : problems_.is_empty();
    made_.messages.push_back(reader_.read(from, defaults_, made_.contents.size() - 1,
                                          is_good ? &made_.contents.back() : nullptr));
    if (!(made_.content_is_shared && has_own))
      from.finish();
  }

  problem_list& problems_;
  message_reader reader_;
  message_request made_;
  options defaults_;
  bool shared_is_good_ = false;
};

} // namespace

std::size_t message_request::recipients() const {
  std::size_t sum = 0;
  for (const auto& message : messages)
    sum += message.recipients.size();
  return sum;
}

bool message_request::is_due(unix_us now) const {
  return std::any_of(messages.begin(), messages.end(), [now](const intake_message& message) {
    return message.send_at.value_or(now) <= now;
  });
}

message_request read_send(json_value body, unix_us now, problem_list& problems) {
  const json_place root;
  object_fields from{body, root, problems};
  message_request made;
  made.contents.push_back(content_reading::read(from));
  const bool is_good = problems.is_empty();
  made.priority = static_cast<std::int16_t>(from.integer("priority", 0, 100).value_or(0));
  made.region = read_region(from);
  made.messages.push_back(
      message_reader{now, problems}.read(from, {}, 0, is_good ? &made.contents.front() : nullptr));
  from.finish();
  return made;
}

message_request read_batch(json_value body, unix_us now, problem_list& problems) {
  return batch_reader{now, problems}.read(body);
}

} // namespace paceline
