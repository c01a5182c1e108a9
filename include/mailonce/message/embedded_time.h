// The times in what is embedded in documents. Each function blanks one in place and gives it in words; it
// gives nothing, and leaves the octets as they were, when they are not an intact file of that kind.
#pragma once
#include <optional>
#include <string>

namespace mailonce::message {

// Programs that keep only the glyphs a document uses write when they did so: "modified" in a TrueType or
// OpenType font's head table, with the two checksums that follow from it. They must be right, so that nothing
// else is lost with them.
std::optional<std::string> remove_font_time(std::string& font);

// The time at which a colour profile was made (ICC.1:2010 §7.2.8), by programs that make theirs for each
// document.
std::optional<std::string> remove_profile_time(std::string& profile);

}  // namespace mailonce::message
