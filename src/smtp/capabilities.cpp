#include "mailonce/smtp/capabilities.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "mailonce/base/encoding.h"
#include "octets.h"

namespace mailonce::smtp {
namespace {

// RFC 1870 §4: "SIZE", "SIZE 0" and nonsense alike say that there is no fixed maximum.
std::optional<std::uint64_t> parse_max_size(std::string_view digits) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || value == 0) return std::nullopt;
  return value;
}

void add_mechanisms(std::vector<std::string>& known, std::string_view words) {
  while (!words.empty()) {
    std::string mechanism(take_until(words, ' '));
    for (char& c : mechanism)
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    if (!mechanism.empty() && std::find(known.begin(), known.end(), mechanism) == known.end())
      known.push_back(std::move(mechanism));
  }
}

// RFC 9422 §4: "RCPTMAX=" 1*6DIGIT and not 0; what is unknown or malformed is passed over.
void read_limits(Capabilities& found, std::string_view words) {
  while (!words.empty()) {
    auto digits = take_until(words, ' ');
    const auto name = take_until(digits, '=');
    const auto limit = digits.size() <= 6 ? parse_max_size(digits) : std::nullopt;
    if (limit && equals_ignoring_case(name, "RCPTMAX")) found.max_recipients = *limit;
    if (limit && equals_ignoring_case(name, "RCPTDOMAINMAX")) found.max_recipient_domains = *limit;
  }
}

void read_line(Capabilities& found, std::string_view line) {
  const auto keyword = take_until(line, ' ');
  if (equals_ignoring_case(keyword, "PIPELINING")) {
    found.pipelining = true;
  } else if (equals_ignoring_case(keyword, "8BITMIME")) {
    found.eight_bit_mime = true;
  } else if (equals_ignoring_case(keyword, "ENHANCEDSTATUSCODES")) {
    found.enhanced_status_codes = true;
  } else if (equals_ignoring_case(keyword, "STARTTLS")) {
    found.starttls = true;
  } else if (equals_ignoring_case(keyword, "SMTPUTF8")) {
    found.smtputf8 = true;
  } else if (equals_ignoring_case(keyword, "DSN")) {
    found.dsn = true;
  } else if (equals_ignoring_case(keyword, "CHUNKING")) {
    found.chunking = true;
  } else if (equals_ignoring_case(keyword, "REQUIRETLS")) {
    found.requiretls = true;
  } else if (equals_ignoring_case(keyword, "LIMITS")) {
    read_limits(found, line);
  } else if (equals_ignoring_case(keyword, "SIZE")) {
    found.size = true;
    found.max_size = parse_max_size(trim_left(line));
  } else if (equals_ignoring_case(keyword, "AUTH")) {
    add_mechanisms(found.auth, line);
  } else if (keyword.size() > 5 && equals_ignoring_case(keyword.substr(0, 5), "AUTH=")) {
    // The form before RFC 2554, which servers still send for old clients.
    add_mechanisms(found.auth, keyword.substr(5));
    add_mechanisms(found.auth, line);
  }
}

}  // namespace

bool Capabilities::offers_auth(std::string_view mechanism) const noexcept {
  return std::any_of(auth.begin(), auth.end(),
                     [&](const std::string& known) { return equals_ignoring_case(known, mechanism); });
}

Capabilities Capabilities::parse(const Reply& ehlo) {
  Capabilities found;
  std::string_view lines = ehlo.text;
  take_until(lines, '\n');
  while (!lines.empty()) read_line(found, take_until(lines, '\n'));
  return found;
}

Reply Capabilities::announce(std::string_view hostname) const {
  Reply reply{250, std::string(hostname)};
  if (pipelining) reply.text += "\nPIPELINING";
  if (size) reply.text += max_size ? "\nSIZE " + std::to_string(*max_size) : "\nSIZE";
  if (eight_bit_mime) reply.text += "\n8BITMIME";
  if (smtputf8) reply.text += "\nSMTPUTF8";
  if (dsn) reply.text += "\nDSN";
  if (chunking) reply.text += "\nCHUNKING";
  if (requiretls) reply.text += "\nREQUIRETLS";
  if (max_recipients || max_recipient_domains) reply.text += "\nLIMITS";
  if (max_recipients) reply.text += " RCPTMAX=" + std::to_string(*max_recipients);
  if (max_recipient_domains) reply.text += " RCPTDOMAINMAX=" + std::to_string(*max_recipient_domains);
  if (starttls) reply.text += "\nSTARTTLS";
  if (!auth.empty()) reply.text += "\nAUTH";
  for (const auto& mechanism : auth) reply.text.append(" ").append(mechanism);
  if (enhanced_status_codes) reply.text += "\nENHANCEDSTATUSCODES";
  return reply;
}

namespace {

template <class Number>
std::optional<Number> smaller(const std::optional<Number>& a, const std::optional<Number>& b) {
  return a && b ? std::min(a, b) : a ? a : b;
}

}  // namespace

Capabilities common(const Capabilities& a, const Capabilities& b) {
  Capabilities both;
  both.pipelining = a.pipelining && b.pipelining;
  both.eight_bit_mime = a.eight_bit_mime && b.eight_bit_mime;
  both.enhanced_status_codes = a.enhanced_status_codes && b.enhanced_status_codes;
  both.starttls = a.starttls && b.starttls;
  both.smtputf8 = a.smtputf8 && b.smtputf8;
  both.dsn = a.dsn && b.dsn;
  both.size = a.size && b.size;
  both.chunking = a.chunking && b.chunking;
  both.requiretls = a.requiretls && b.requiretls;
  both.max_size = smaller(a.max_size, b.max_size);
  both.max_recipients = smaller(a.max_recipients, b.max_recipients);
  both.max_recipient_domains = smaller(a.max_recipient_domains, b.max_recipient_domains);
  std::copy_if(a.auth.begin(), a.auth.end(), std::back_inserter(both.auth),
               [&](const auto& mechanism) { return b.offers_auth(mechanism); });
  return both;
}

}  // namespace mailonce::smtp
