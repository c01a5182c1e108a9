#include "mail_parameters.h"

#include <charconv>
#include <limits>

#include "mailonce/base/encoding.h"
#include "mailonce/smtp/error.h"
#include "octets.h"

namespace mailonce::smtp {
namespace {

// RFC 1870 §4: 1*20DIGIT. Twenty digits can exceed 64 bits; more than any limit is all that matters then.
error_code parse_size(std::string_view value, Sender& sender) {
  if (sender.size || value.empty() || value.size() > 20) return Errc::bad_parameter;
  if (any_octet(value, [](char c) { return !is_digit(c); })) return Errc::bad_parameter;
  std::uint64_t size = 0;
  if (std::from_chars(value.data(), value.data() + value.size(), size).ec != std::errc())
    size = std::numeric_limits<std::uint64_t>::max();
  sender.size = size;
  return {};
}

error_code parse_body(std::string_view value, Sender& sender) {
  if (sender.body != BodyType::unspecified) return Errc::bad_parameter;
  if (equals_ignoring_case(value, "7BIT")) {
    sender.body = BodyType::seven_bit;
  } else if (equals_ignoring_case(value, "8BITMIME")) {
    sender.body = BodyType::eight_bit_mime;
  } else {
    return Errc::bad_parameter;
  }
  return {};
}

// RFC 4954 §5: who vouches for the message; "<>" says nobody. Nothing depends on it.
error_code parse_auth(std::string_view value, Sender& sender) {
  if (sender.auth || value.empty() || any_octet(value, [](char c) { return !is_visible(c); }))
    return Errc::bad_parameter;
  sender.auth = true;
  return {};
}

}  // namespace

error_code parse_mail_parameters(std::string_view text, Sender& sender) {
  while (!(text = trim_left(text)).empty()) {
    auto value = take_until(text, ' ');
    const auto keyword = take_until(value, '=');
    error_code error = Errc::unknown_parameter;
    if (equals_ignoring_case(keyword, "SIZE")) error = parse_size(value, sender);
    if (equals_ignoring_case(keyword, "BODY")) error = parse_body(value, sender);
    if (equals_ignoring_case(keyword, "AUTH")) error = parse_auth(value, sender);
    if (error) return error;
  }
  return {};
}

}  // namespace mailonce::smtp
