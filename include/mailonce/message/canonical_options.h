// What counts beyond what always does (docs/canonical-form.md).
#pragma once
#include <string>
#include <vector>

#include "mailonce/message/pattern.h"

namespace mailonce::message {

struct CanonicalOptions {
  std::vector<std::string> identity_headers;  // further fields
  std::vector<Pattern> ignore;  // regular expressions whose matches are taken out of Subject and texts
  bool documents = true;  // PDF and ZIP-based files count by what they show (document.h), not by their octets
};

}  // namespace mailonce::message
