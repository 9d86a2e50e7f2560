#include "transport/mail/csv_cells.hpp"

#include <new>

namespace paceline {
namespace {

constexpr unsigned char strictly = CSV_STRICT | CSV_STRICT_FINI;

} // namespace

csv_cells::csv_cells(std::size_t most) : most_(most) {
  csv_init(&parser_, strictly);
}

csv_cells::~csv_cells() {
  csv_free(&parser_);
}

bool csv_cells::split(std::string_view row) {
  count_ = 0;
  cells_.clear();
  bool is_good = csv_parse(&parser_, row.data(), row.size(), take_cell, nullptr, this) == row.size()
                 && csv_fini(&parser_, take_cell, nullptr, this) == 0;
  if (is_good)
    return true;
  auto code = csv_error(&parser_);
  restart();
  if (code == CSV_ENOMEM)
    throw std::bad_alloc{};
  return false;
}

/// After an error the parser is in the middle of a row.
void csv_cells::restart() {
  csv_free(&parser_);
  csv_init(&parser_, strictly);
}

void csv_cells::take_cell(void* text, std::size_t size, void* self) {
  auto& cells = *static_cast<csv_cells*>(self);
  if (++cells.count_ <= cells.most_)
    cells.cells_.emplace_back(static_cast<const char*>(text), size);
}

} // namespace paceline
