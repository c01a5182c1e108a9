// Validated envelope addresses (RFC 5321 §4.1.2, §4.1.3). What goes into a command line to an upstream is
// made from this type, never pasted from a client's line.
#pragma once
#include <string>
#include <string_view>
#include <utility>

#include "mailonce/base/result.h"

namespace mailonce::smtp {

class Address {
 public:
  Address() = default;  // the null reverse-path <>

  // `path` with its angle brackets: "<a@b.example>", "<>", "<@relay:user@host>" (the route is dropped),
  // "<postmaster>" (forward paths only). Errors: smtp::Errc.
  static Result<Address> parse_reverse_path(std::string_view path);
  static Result<Address> parse_forward_path(std::string_view path);

  // Whether it can stand in a command without SMTPUTF8 (RFC 6531). All are well-formed UTF-8.
  bool ascii() const noexcept;
  bool null() const noexcept { return text_.empty(); }
  // local-part@domain as it is sent, without brackets; empty for the null path.
  const std::string& text() const noexcept { return text_; }
  std::string_view local_part() const noexcept;
  std::string_view domain() const noexcept;  // empty for <postmaster>
  // The domain in lower case, the local part untouched: what tells recipients apart (DESIGN.md §4).
  std::string normalized() const;
  bool operator==(const Address&) const = default;

 private:
  explicit Address(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

}  // namespace mailonce::smtp
