/// How rows of the option table are written: one short call for each option.
#pragma once

#include <string_view>

#include "config/options.hpp"

namespace paceline::option_rows {

constexpr option make(std::string_view key, option_type type, std::string_view unit,
                      std::string_view initial, double minimum, double maximum, option_store store,
                      std::string_view doc) {
  return {.key = key,
          .type = type,
          .unit = unit,
          .initial = initial,
          .minimum = minimum,
          .maximum = maximum,
          .choices = {},
          .doc = doc,
          .store = store,
          .initial_note = {},
          .example = {}};
}

constexpr option flag(std::string_view key, std::string_view initial, option_store store,
                      std::string_view doc) {
  return make(key, option_type::boolean, "", initial, 0, 1, store, doc);
}

constexpr option count(std::string_view key, std::string_view unit, std::string_view initial,
                       double minimum, double maximum, option_store store, std::string_view doc) {
  return make(key, option_type::integer, unit, initial, minimum, maximum, store, doc);
}

constexpr option number(std::string_view key, std::string_view unit, std::string_view initial,
                        double minimum, double maximum, option_store store, std::string_view doc) {
  return make(key, option_type::number, unit, initial, minimum, maximum, store, doc);
}

constexpr option duration(std::string_view key, std::string_view initial, double minimum,
                          double maximum, option_store store, std::string_view doc) {
  return make(key, option_type::duration_ms, "ms", initial, minimum, maximum, store, doc);
}

constexpr option text(std::string_view key, std::string_view note, double maximum,
                      option_store store, std::string_view doc) {
  auto row = make(key, option_type::text, "", "", 0, maximum, store, doc);
  row.initial_note = note;
  return row;
}

constexpr option list(std::string_view key, option_store store, std::string_view doc) {
  return make(key, option_type::list_of_text, "", "", 1, 1024, store, doc);
}

constexpr option choice(std::string_view key, std::string_view initial, std::string_view choices,
                        option_store store, std::string_view doc) {
  auto row = make(key, option_type::choice, "", initial, 0, 0, store, doc);
  row.choices = choices;
  return row;
}

constexpr option required(option row, std::string_view example) {
  row.is_required = true;
  row.example = example;
  if (row.type == option_type::text)
    row.minimum = 1;
  return row;
}

/// A text that is not empty where nobody says otherwise.
constexpr option preset(option row, std::string_view initial) {
  row.initial = initial;
  return row;
}

/// A connection string with a password.
constexpr option masked(option row) {
  row.hidden = secrecy::password_inside;
  return row;
}

constexpr option secret(option row) {
  row.hidden = secrecy::all;
  return row;
}

constexpr option live(option row) {
  row.is_live = true;
  return row;
}

} // namespace paceline::option_rows
