// Content-IDs by number, in order of appearance (RFC 2392; DESIGN.md §5): libraries make the identifiers up
// for each build, the numbers stay.
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>

namespace mailonce::message {

class ContentIds {
 public:
  // The number of the Content-ID with this field value, from 1; the same identifier keeps its number. 0 when
  // empty.
  std::size_t add(std::string_view field_value);
  bool empty() const noexcept { return numbers_.empty(); }

  // `html` with each "cid:" reference to a known identifier replaced by its number between two octets 0xFF,
  // which UTF-8 can not contain: no text can pretend to be a reference. A view of `html` when there is
  // nothing to replace.
  std::string_view number_references(std::string_view html, std::string& scratch) const;
  // The same for a file name that begins with a known identifier of the form left@right; shorter ones may be
  // names that a person chose.
  std::string number_file_name(std::string_view name) const;

 private:
  std::size_t find(std::string_view url_encoded) const;

  std::unordered_map<std::string, std::size_t> numbers_;
};

}  // namespace mailonce::message
