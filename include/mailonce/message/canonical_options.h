// What counts beyond what always does (docs/canonical-form.md).
#pragma once
#include <string>
#include <vector>

namespace mailonce::message {

struct CanonicalOptions {
  std::vector<std::string> identity_headers;  // further fields
  bool documents = true;  // PDF and ZIP-based files count by what they show (document.h), not by their octets
};

}  // namespace mailonce::message
