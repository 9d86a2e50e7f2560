/// One template (subject, a body, the value of a header), compiled: what `mail_template` and
/// `mail_composer` are made of.
///
/// The engine never sees the text between the tags: it moves marks of a few octets, and whoever
/// takes its output puts the text in their place, as it is or encoded once for all messages.
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <kainjow/mustache.hpp>

#include "storage/contents.hpp"
#include "storage/result.hpp"
#include "transport/mail/quoted_printable.hpp"
#include "transport/mail/template_text.hpp"

namespace paceline {

/// Whose values fill a template.
struct field_values {
  const kainjow::mustache::data* own = nullptr;      ///< the message's
  const kainjow::mustache::data* defaults = nullptr; ///< the content's
  missing_field missing = missing_field::empty;
};

/// How a template's text goes into a message.
struct part_rules {
  bool escapes = false; ///< HTML in values, where the tag does not say raw
  bool encodes = false; ///< the text is kept as quoted-printable, for `render(fields, writer)` only
};

/// Why a rendering ended from within the engine. Its text is for people.
struct rendering_failure final : std::exception {
  explicit rendering_failure(std::string why) : text(std::move(why)) {}
  const char* what() const noexcept override { return text.c_str(); }
  std::string text;
};

/// Immutable; safe to use from one thread at a time, because the engine is.
class template_part {
public:
  static constexpr std::size_t max_octets = 1 << 20;

  template_part() = default;
  /// Error `invalid` names `name` and the problem.
  static result<template_part> compile(std::string_view name, const std::string& text,
                                       part_rules rules);

  /// Whether every rendering is the same.
  bool is_constant() const { return !engine_; }
  const std::vector<template_field>& fields() const { return fields_; }

  /// Appends what comes out. Both throw `rendering_failure`: a field is missing and that is not
  /// allowed, or more than 1 MiB came out.
  void render(const field_values& fields, std::string& to) const;
  void render(const field_values& fields, quoted_writer& to) const;

  /// Octets in memory.
  std::size_t memory() const;
  /// Octets of the text between the tags, as it goes out.
  std::size_t text_size() const;

private:
  template <class Output>
  void run(const field_values& fields, Output& to) const;
  void keep(std::vector<std::string> texts, bool encodes);

  std::unique_ptr<kainjow::mustache::mustache> engine_; ///< none where there is nothing to fill in
  std::vector<std::string> plain_;             ///< the texts between the tags, or the only one
  std::vector<quoted_piece> quoted_;           ///< the same, encoded; one of the two is empty
  std::vector<kainjow::mustache::data> marks_; ///< what stands for them within the engine
  std::vector<std::size_t> sizes_;             ///< and how long they are
  std::vector<template_field> fields_;
};

} // namespace paceline
