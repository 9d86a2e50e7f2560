#include "transport/mail/template.hpp"

#include <algorithm>

#include "transport/mail/content_templates.hpp"

namespace paceline {

struct mail_template::parts {
  content_templates templates;
};

mail_template::mail_template(std::unique_ptr<parts> compiled) : parts_(std::move(compiled)) {}
mail_template::mail_template(mail_template&&) noexcept = default;
mail_template& mail_template::operator=(mail_template&&) noexcept = default;
mail_template::~mail_template() = default;

result<mail_template> mail_template::compile(const content& what) {
  auto compiled = content_templates::compile(what, false);
  if (!compiled)
    return compiled.failure();
  return mail_template{std::make_unique<parts>(parts{std::move(*compiled)})};
}

result<rendered_mail> mail_template::render(std::string_view json) const {
  const auto tree = read_fields(json);
  if (!tree)
    return tree.failure();
  const auto& templates = parts_->templates;
  const auto fields = templates.with(*tree);
  rendered_mail mail;
  std::string part = "subject";
  try {
    mail.subject = templates.subject_for(fields);
    part = "text";
    templates.text_body().render(fields, mail.text_body);
    part = "html";
    templates.html_body().render(fields, mail.html_body);
    for (const auto& header : templates.headers()) {
      part = "headers." + header.name;
      if (auto value = templates.value_for(header, fields); !value.empty())
        mail.headers.emplace_back(header.name, std::move(value));
    }
  } catch (const std::exception& failure) {
    return error{error_kind::invalid, part + ": " + failure.what()};
  }
  return mail;
}

std::vector<template_field> mail_template::fields() const {
  std::vector<template_field> all;
  const auto add = [&all](const template_part& part) {
    for (const auto& field : part.fields()) {
      auto known = std::find_if(all.begin(), all.end(), [&field](const template_field& other) {
        return other.name == field.name;
      });
      if (known == all.end()) {
        all.push_back(field);
        continue;
      }
      known->is_printed = known->is_printed || field.is_printed;
      known->outside_section = known->outside_section || field.outside_section;
    }
  };
  const auto& templates = parts_->templates;
  add(templates.subject());
  add(templates.text_body());
  add(templates.html_body());
  for (const auto& header : templates.headers())
    add(header.value);
  return all;
}

} // namespace paceline
