// What can be wrong with SMTP syntax; the message says it in words fit for a reply's text.
#pragma once
#include <boost/system/error_category.hpp>

#include "mailonce/base/result.h"

namespace mailonce::smtp {

enum class Errc {
  bad_syntax = 1,     // 501 5.5.4
  bad_address,        // 501 5.1.3 (5.1.7 for a sender)
  address_too_long,   // 501 5.1.3 (5.1.7): domain over 255, path over 256 octets (RFC 5321 §4.5.3.1)
  control_character,  // 501 5.5.2
  non_ascii_address,  // 553 5.6.7
  unknown_parameter,  // 555 5.5.4
  bad_parameter,      // 501 5.5.4
};

const boost::system::error_category& category() noexcept;
error_code make_error_code(Errc errc) noexcept;

}  // namespace mailonce::smtp

template <>
struct boost::system::is_error_code_enum<mailonce::smtp::Errc> : std::true_type {};
