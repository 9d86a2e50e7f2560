/// Fields that templates use and that no recipient has: most likely a name that is spelt in two
/// ways. Pure.
#pragma once

#include <string>
#include <vector>

#include "storage/contents.hpp"
#include "transport/api/template_fields.hpp"

namespace paceline {

class unseen_fields {
public:
  explicit unseen_fields(const content& what);

  /// `fields` as the program writes a recipient's: compact JSON. Cheap once all have been seen.
  void note(const std::string& fields);
  const std::vector<std::string>& names() const { return names_; }
  /// A sentence about them; empty where there are none.
  std::string warning() const;

private:
  std::vector<std::string> names_;
};

/// The same sentence about what one message needs and does not have; empty where that is nothing.
std::string missing_warning(const template_fields& of);

} // namespace paceline
