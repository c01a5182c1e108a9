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

// RFC 3461 §4: printable ASCII but "+" and "=", and "+" with two upper-case hexadecimal digits.
bool is_xtext(std::string_view text) {
  const auto is_digit_of = [](char c) { return is_digit(c) || (c >= 'A' && c <= 'F'); };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_visible(text[i]) || text[i] == '=') return false;
    if (text[i] != '+') continue;
    if (i + 2 >= text.size() || !is_digit_of(text[i + 1]) || !is_digit_of(text[i + 2])) return false;
    i += 2;
  }
  return !text.empty();
}

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return out;
}

error_code parse_ret(std::string_view value, Sender& sender) {
  const auto word = upper(value);
  if (!sender.ret.empty() || (word != "FULL" && word != "HDRS")) return Errc::bad_parameter;
  sender.ret = word;
  return {};
}

error_code parse_envid(std::string_view value, Sender& sender) {
  constexpr std::size_t longest = 100;  // RFC 3461 §4.4
  if (!sender.envid.empty() || value.size() > longest || !is_xtext(value)) return Errc::bad_parameter;
  sender.envid = value;
  return {};
}

error_code parse_notify(std::string_view value, Recipient& recipient) {
  if (!recipient.notify.empty() || value.empty()) return Errc::bad_parameter;
  const auto words = upper(value);
  std::string_view rest = words;
  bool several = false;
  while (!rest.empty()) {
    const auto word = take_until(rest, ',');
    if (word == "NEVER" && (several || !rest.empty())) return Errc::bad_parameter;
    if (word != "NEVER" && word != "SUCCESS" && word != "FAILURE" && word != "DELAY")
      return Errc::bad_parameter;
    several = true;
  }
  if (words.back() == ',') return Errc::bad_parameter;
  recipient.notify = words;
  return {};
}

error_code parse_orcpt(std::string_view value, Recipient& recipient) {
  constexpr std::size_t longest = 500;  // RFC 3461 §4.2
  auto address = value;
  const auto type = take_until(address, ';');
  if (!recipient.orcpt.empty() || value.size() > longest || type.empty() || !is_xtext(address) ||
      any_octet(type, [](char c) { return !is_alnum(c) && c != '-'; }))
    return Errc::bad_parameter;
  recipient.orcpt = value;
  return {};
}

}  // namespace

error_code parse_rcpt_parameters(std::string_view text, Recipient& recipient) {
  while (!(text = trim_left(text)).empty()) {
    auto value = take_until(text, ' ');
    const auto keyword = take_until(value, '=');
    error_code error = Errc::unknown_parameter;
    if (equals_ignoring_case(keyword, "NOTIFY")) error = parse_notify(value, recipient);
    if (equals_ignoring_case(keyword, "ORCPT")) error = parse_orcpt(value, recipient);
    if (error) return error;
  }
  return {};
}

error_code parse_mail_parameters(std::string_view text, Sender& sender) {
  while (!(text = trim_left(text)).empty()) {
    auto value = take_until(text, ' ');
    const bool bare = value.find('=') == std::string_view::npos;
    const auto keyword = take_until(value, '=');
    error_code error = Errc::unknown_parameter;
    if (equals_ignoring_case(keyword, "SMTPUTF8")) {
      error = !bare || sender.smtputf8 ? make_error_code(Errc::bad_parameter) : error_code();
      sender.smtputf8 = true;
    }
    if (equals_ignoring_case(keyword, "REQUIRETLS")) {
      error = !bare || sender.requiretls ? make_error_code(Errc::bad_parameter) : error_code();
      sender.requiretls = true;
    }
    if (equals_ignoring_case(keyword, "RET")) error = parse_ret(value, sender);
    if (equals_ignoring_case(keyword, "ENVID")) error = parse_envid(value, sender);
    if (equals_ignoring_case(keyword, "SIZE")) error = parse_size(value, sender);
    if (equals_ignoring_case(keyword, "BODY")) error = parse_body(value, sender);
    if (equals_ignoring_case(keyword, "AUTH")) error = parse_auth(value, sender);
    if (error) return error;
  }
  return {};
}

}  // namespace mailonce::smtp
