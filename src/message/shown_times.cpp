#include "mailonce/message/shown_times.h"

#include <algorithm>
#include <array>

#include "mailonce/base/encoding.h"

namespace mailonce::message {
namespace {

// Fields of WordprocessingML (ISO 29500-1 §17.16.5), data bound to core properties, fields of
// OpenDocument 1.3 part 3 §7.5. A word inside a text is taken for one too: that document compares by its
// octets.
constexpr std::array<std::string_view, 8> words = {"createdate",     "savedate",       "printdate",
                                                   "docproperty",    "coreproperties", "modification-",
                                                   "text:creation-", "text:print-"};
constexpr std::size_t longest = 16;

}  // namespace

void ShownTimes::begin_part() {
  window_.clear();
}

void ShownTimes::feed(std::string_view chunk) {
  if (found_) return;
  window_.erase(0, window_.size() - std::min(window_.size(), longest));
  window_ += to_lower_ascii(chunk);
  found_ = std::any_of(words.begin(), words.end(),
                       [&](std::string_view word) { return window_.find(word) != std::string::npos; });
}

}  // namespace mailonce::message
