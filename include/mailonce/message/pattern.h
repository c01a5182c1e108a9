// The patterns of rules (DESIGN.md §5): globs and regular expressions (RE2). A match takes time linear in the
// text, whatever the pattern. Cheap to copy; safe from any thread.
#pragma once
#include <boost/system/result.hpp>
#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace mailonce::message {

class Pattern {
 public:
  // "*@example.com" over a whole text: `*` is any octets, `?` one, `\` takes the next as it is. Either case.
  static Pattern glob(std::string_view text);
  // RE2's syntax, found anywhere in a UTF-8 text; an octet that is none counts as one U+FFFD: a character,
  // but no letter, digit or space. The error is RE2's sentence.
  static boost::system::result<Pattern, std::string> regex(std::string_view expression);

  bool matches(std::string_view text) const;
  // Takes out every match that is not empty, and nothing else.
  void remove_from(std::string& text) const;
  const std::string& written() const noexcept { return written_; }

 private:
  Pattern(std::string written, std::shared_ptr<const re2::RE2> compiled, bool whole);

  std::string written_;
  std::shared_ptr<const re2::RE2> compiled_;
  bool whole_;
};

}  // namespace mailonce::message
