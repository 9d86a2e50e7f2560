#include "transport/mail/audience_csv.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "config/text.hpp"
#include "storage/suppressions.hpp"
#include "transport/mail/address.hpp"
#include "transport/mail/csv_cells.hpp"
#include "transport/mail/csv_rows.hpp"

namespace paceline {
namespace {

constexpr std::size_t max_columns = 200;

bool has_nul(std::string_view text) {
  return text.find('\0') != std::string_view::npos;
}

bool is_wide(std::string_view text) {
  return text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff") || has_nul(text);
}

bool names_address(std::string_view column) {
  constexpr std::string_view email = "email";
  return std::equal(column.begin(), column.end(), email.begin(), email.end(), [](char a, char b) {
    return a == b || (a >= 'A' && a <= 'Z' && a - 'A' + 'a' == b);
  });
}

} // namespace

class audience_csv::impl {
public:
  impl(std::istream& input, report_function skipped)
      : rows_(input), cells_(max_columns + 1), report_(std::move(skipped)) {}

  result<std::optional<audience_member>> next() {
    if (!has_header_) {
      if (auto problem = read_header())
        return *problem;
      has_header_ = true;
    }
    while (true) {
      auto got = rows_.next();
      if (got == csv_rows::reading::end)
        return std::optional<audience_member>{};
      if (auto problem = fatal(got))
        return *problem;
      ++read_;
      std::string why;
      if (auto member = use_row(got, why))
        return std::optional{std::move(member)};
      ++skipped_;
      if (report_)
        report_(skipped_row{rows_.line(), std::move(why)});
    }
  }

  std::int64_t read() const { return read_; }
  std::int64_t skipped() const { return skipped_; }

private:
  error at_line(std::string_view problem) const {
    return error{error_kind::invalid,
                 "line " + std::to_string(rows_.line()) + ": " + std::string{problem}};
  }

  std::optional<error> fatal(csv_rows::reading got) const {
    switch (got) {
    case csv_rows::reading::open_quote:
      return at_line("a quote is opened here and never closed");
    case csv_rows::reading::read_failure:
      return at_line("the file can't be read any further");
    case csv_rows::reading::row:
    case csv_rows::reading::too_long:
    case csv_rows::reading::end:
      break;
    }
    return std::nullopt;
  }

  std::optional<error> read_header() {
    auto got = rows_.next();
    if (is_wide(rows_.text()))
      return at_line("this looks like UTF-16 or UTF-32; save the file as UTF-8");
    if (auto problem = fatal(got))
      return problem;
    if (got == csv_rows::reading::end)
      return at_line("no header: the file is empty");
    if (got == csv_rows::reading::too_long)
      return at_line("a header of more than 1 MiB");
    if (first_invalid_utf8(rows_.text()))
      return at_line("the header is not UTF-8; save the file as UTF-8");
    if (!cells_.split(rows_.text()))
      return at_line("the header's quotes are wrong");
    if (cells_.count() > max_columns)
      return at_line("more than 200 columns");
    return take_columns();
  }

  std::optional<error> take_columns() {
    std::unordered_set<std::string_view> seen;
    std::optional<std::size_t> address;
    const auto& names = cells_.kept();
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i].empty())
        return at_line("column " + std::to_string(i + 1) + " has no name");
      bool is_address = names_address(names[i]);
      if (!seen.insert(names[i]).second || (is_address && address))
        return at_line("column " + printable(names[i], 60) + " occurs twice");
      if (is_address)
        address = i;
      keys_.push_back(json_string(names[i]) + ":");
    }
    if (!address)
      return at_line("no column is named email; the first row must name the columns, separated by "
                     "commas");
    address_column_ = *address;
    return std::nullopt;
  }

  /// The member in the row just read, or nothing and `why`.
  std::optional<audience_member> use_row(csv_rows::reading got, std::string& why) {
    const auto& row = rows_.text();
    if (got == csv_rows::reading::too_long)
      why = "more than 1 MiB";
    else if (has_nul(row))
      why = "a NUL character";
    else if (first_invalid_utf8(row))
      why = "not UTF-8";
    else if (!cells_.split(row))
      why = "a quote within a cell, or text after a closing quote";
    else if (cells_.count() != keys_.size())
      why = std::to_string(cells_.count()) + " cells where the header has "
            + std::to_string(keys_.size());
    else
      return use_cells(why);
    return std::nullopt;
  }

  std::optional<audience_member> use_cells(std::string& why) {
    auto checked = check_address(cells_.kept()[address_column_]);
    if (!checked.address) {
      why = "bad address: " + checked.problem;
      return std::nullopt;
    }
    audience_member member{normalized_address(*checked.address), fields()};
    if (!seen_.insert(member.recipient).second) {
      why = "the address occurs a second time";
      return std::nullopt;
    }
    return member;
  }

  std::string fields() const {
    std::string json = "{";
    const auto& cells = cells_.kept();
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i == address_column_ || cells[i].empty())
        continue;
      if (json.size() > 1)
        json += ',';
      json += keys_[i];
      json += json_string(cells[i]);
    }
    return json + "}";
  }

  csv_rows rows_;
  csv_cells cells_;
  report_function report_;
  bool has_header_ = false;
  std::vector<std::string> keys_; ///< `"name":` per column
  std::size_t address_column_ = 0;
  std::unordered_set<std::string> seen_;
  std::int64_t read_ = 0, skipped_ = 0;
};

audience_csv::audience_csv(std::istream& input, report_function skipped)
    : impl_(std::make_unique<impl>(input, std::move(skipped))) {}
audience_csv::~audience_csv() = default;

result<std::optional<audience_member>> audience_csv::next() {
  return impl_->next();
}
std::int64_t audience_csv::read() const {
  return impl_->read();
}
std::int64_t audience_csv::skipped() const {
  return impl_->skipped();
}

} // namespace paceline
