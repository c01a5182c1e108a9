#include "mailonce/smtp/command.h"

#include <array>
#include <charconv>

#include "mail_parameters.h"
#include "mailonce/base/encoding.h"
#include "mailonce/smtp/error.h"
#include "octets.h"

namespace mailonce::smtp {
namespace {

Refusal refuse(int code, std::string_view text, bool close = false) {
  return Refusal{Reply{code, std::string(text)}, close};
}

enum class Path { reverse, forward };

Refusal refuse(error_code error, Path path) {
  const bool sender = path == Path::reverse;
  const auto with = [&](int code, std::string_view status) {
    return refuse(code, std::string(status) + " Error: " + error.message());
  };
  switch (static_cast<Errc>(error.value())) {
    case Errc::bad_address:
    case Errc::address_too_long:
      return with(501, sender ? "5.1.7" : "5.1.3");  // RFC 3463 §3.2
    case Errc::control_character:
      return with(501, "5.5.2");
    case Errc::non_ascii_address:
      return with(553, "5.6.7");  // RFC 6531 §3.5
    case Errc::unknown_parameter:
      return with(555, "5.5.4");  // RFC 5321 §4.1.1.11
    case Errc::bad_syntax:
    case Errc::bad_parameter:
      break;
  }
  return with(501, "5.5.4");
}

// "TO: <path> parameters" into its parts. Spaces after the colon break the grammar but not the meaning; real
// clients send them. The path ends at the first '>' outside a quoted string.
struct PathArgument {
  std::string_view path;
  std::string_view parameters;
};

Result<PathArgument> split_path(std::string_view arguments, std::string_view keyword) {
  if (!equals_ignoring_case(arguments.substr(0, keyword.size()), keyword)) return Errc::bad_syntax;
  const auto rest = trim_left(arguments.substr(keyword.size()));
  bool quoted = false;
  std::size_t end = 0;
  for (; end < rest.size() && (quoted || rest[end] != '>'); ++end) {
    if (rest[end] == '"') quoted = !quoted;
    if (rest[end] == '\\') ++end;
  }
  if (end >= rest.size()) return PathArgument{rest, {}};  // no '>': for the address parser to refuse
  const auto parameters = rest.substr(end + 1);
  if (!parameters.empty() && parameters.front() != ' ') return Errc::bad_syntax;
  return PathArgument{rest.substr(0, end + 1), parameters};
}

template <class Hello>
ParsedCommand parse_hello(std::string_view arguments) {
  auto name = HelloName::parse(trim_left(arguments));
  if (!name) return refuse(501, "5.5.4 Syntax: EHLO or HELO hostname");
  return Hello{std::move(*name)};
}

ParsedCommand parse_mail(std::string_view arguments) {
  const auto parts = split_path(arguments, "FROM:");
  if (!parts) return refuse(501, "5.5.4 Syntax: MAIL FROM:<address>");
  auto address = Address::parse_reverse_path(parts->path);
  if (!address) return refuse(address.error(), Path::reverse);
  Sender sender;
  sender.address = std::move(*address);
  if (const auto error = parse_mail_parameters(parts->parameters, sender))
    return refuse(error, Path::reverse);
  return Mail{std::move(sender)};
}

ParsedCommand parse_rcpt(std::string_view arguments) {
  const auto parts = split_path(arguments, "TO:");
  if (!parts) return refuse(501, "5.5.4 Syntax: RCPT TO:<address>");
  auto address = Address::parse_forward_path(parts->path);
  if (!address) return refuse(address.error(), Path::forward);
  Recipient recipient{std::move(*address)};
  if (const auto error = parse_rcpt_parameters(parts->parameters, recipient))
    return refuse(error, Path::forward);
  return Rcpt{std::move(recipient)};
}

// RFC 5321 §4.1.1.4, §4.1.1.5, §4.1.1.10: no argument.
template <class Bare>
ParsedCommand parse_bare(std::string_view arguments) {
  if (!arguments.empty()) return refuse(501, "5.5.4 Error: the command takes no argument");
  return Bare{};
}

ParsedCommand parse_noop(std::string_view) {
  return Noop{};
}

ParsedCommand parse_vrfy(std::string_view arguments) {
  if (arguments.empty()) return refuse(501, "5.5.4 Syntax: VRFY address");
  return Vrfy{};
}

// RFC 4954 §4: AUTH mechanism [initial-response]
ParsedCommand parse_auth(std::string_view arguments) {
  Auth auth;
  auth.mechanism = take_until(arguments, ' ');
  arguments = trim_left(arguments);
  if (auth.mechanism.empty() || arguments.find(' ') != std::string_view::npos)
    return refuse(501, "5.5.4 Syntax: AUTH mechanism [initial-response]");
  if (!arguments.empty()) auth.initial = arguments;
  return auth;
}

// RFC 5321 §4.2.4: known, but not announced.
ParsedCommand parse_unimplemented(std::string_view) {
  return refuse(502, "5.5.1 Error: command not implemented");
}

// RFC 3030 §2: "BDAT" SP chunk-size [SP "LAST"]. Octets follow at once, and they must not become commands:
// without a size they can not be told from them.
ParsedCommand parse_bdat(std::string_view arguments) {
  Bdat bdat{0, false};
  const auto size = take_until(arguments, ' ');
  const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), bdat.octets);
  arguments = trim_left(arguments);
  bdat.last = equals_ignoring_case(arguments, "LAST");
  if (size.empty() || error != std::errc() || end != size.data() + size.size() ||
      (!bdat.last && !arguments.empty()))
    return refuse(501, "5.5.4 Syntax: BDAT size [LAST]", true);
  return bdat;
}

ParsedCommand parse_xclient_line(std::string_view arguments) {
  return Xclient{std::string(arguments)};
}

// Another protocol aimed at this port (ALPACA, cross-protocol requests from browsers).
ParsedCommand parse_foreign(std::string_view) {
  return refuse(421, "4.5.0 Error: this is an SMTP server", true);
}

struct Verb {
  std::string_view name;
  ParsedCommand (*parse)(std::string_view arguments);
};

constexpr std::array verbs{
    Verb{"RCPT", parse_rcpt},          Verb{"MAIL", parse_mail},
    Verb{"DATA", parse_bare<Data>},    Verb{"EHLO", parse_hello<Ehlo>},
    Verb{"HELO", parse_hello<Helo>},   Verb{"RSET", parse_bare<Rset>},
    Verb{"QUIT", parse_bare<Quit>},    Verb{"NOOP", parse_noop},
    Verb{"VRFY", parse_vrfy},          Verb{"BDAT", parse_bdat},
    Verb{"EXPN", parse_unimplemented}, Verb{"HELP", parse_unimplemented},
    Verb{"AUTH", parse_auth},          Verb{"STARTTLS", parse_bare<StartTls>},
    Verb{"ETRN", parse_unimplemented}, Verb{"TURN", parse_unimplemented},
    Verb{"SEND", parse_unimplemented}, Verb{"SOML", parse_unimplemented},
    Verb{"SAML", parse_unimplemented}, Verb{"XCLIENT", parse_xclient_line},
    Verb{"GET", parse_foreign},        Verb{"POST", parse_foreign},
    Verb{"PUT", parse_foreign},        Verb{"HEAD", parse_foreign},
    Verb{"DELETE", parse_foreign},     Verb{"PATCH", parse_foreign},
    Verb{"OPTIONS", parse_foreign},    Verb{"CONNECT", parse_foreign},
    Verb{"TRACE", parse_foreign},      Verb{"PRI", parse_foreign},  // HTTP/2
};

// A header field or a line of text: somebody's message is being read as commands.
bool looks_like_text(std::string_view verb) {
  return !is_alpha(verb.front()) || verb.find(':') != std::string_view::npos;
}

}  // namespace

ParsedCommand parse_command(std::string_view line) {
  if (any_octet(line, is_control))
    return refuse(501, "5.5.2 Error: control character in command", looks_like_bdat(line));
  // RFC 5321 §4.1.1: white space before the CRLF is tolerated.
  while (!line.empty() && line.back() == ' ') line.remove_suffix(1);
  if (line.empty()) return refuse(500, "5.5.2 Error: bad syntax");
  const auto verb = take_until(line, ' ');
  for (const auto& known : verbs)
    if (equals_ignoring_case(verb, known.name)) return known.parse(trim_left(line));
  if (verb.empty() || looks_like_text(verb))
    return refuse(421, "4.5.2 Error: this is not an SMTP command", true);
  return refuse(500, "5.5.1 Error: command not recognized");
}

bool looks_like_bdat(std::string_view line) noexcept {
  return equals_ignoring_case(line.substr(0, 4), "BDAT");
}

bool looks_like_rcpt(std::string_view line) noexcept {
  return equals_ignoring_case(line.substr(0, 5), "RCPT ");
}

}  // namespace mailonce::smtp
