// One command line of a client, parsed (RFC 5321 §4.1.1): a typed command, or the refusal it deserves.
// Whether the command is legal now is the ServerMachine's to say.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "mailonce/smtp/envelope.h"
#include "mailonce/smtp/hello_name.h"
#include "mailonce/smtp/reply.h"

namespace mailonce::smtp {

struct Ehlo {
  HelloName name;
};
struct Helo {
  HelloName name;
};
struct Mail {
  Sender sender;
};
struct Rcpt {
  Recipient recipient;
};
struct Data {};
struct Rset {};
struct Noop {};
struct Vrfy {};
struct Quit {};
struct StartTls {};
struct Auth {
  std::string mechanism;               // as the client wrote it
  std::optional<std::string> initial;  // response, in base64; "=" is an empty one (RFC 4954 §4)
};
struct Bdat {
  std::uint64_t octets;  // that follow the line
  bool last;
};
struct Xclient {
  std::string arguments;  // for parse_xclient()
};

using Command =
    std::variant<Ehlo, Helo, Mail, Rcpt, Data, Rset, Noop, Vrfy, Quit, StartTls, Auth, Bdat, Xclient>;

struct Refusal {
  Reply reply;
  // The connection must end: what follows on it is not SMTP (HTTP, a header, a chunk of unknown size).
  bool close = false;
};

using ParsedCommand = std::variant<Command, Refusal>;

// `line` without its CRLF. BODY= and SIZE= are understood whether or not they were announced.
ParsedCommand parse_command(std::string_view line);

// True when the line begins with BDAT: what follows it is a chunk, whatever is wrong with the line.
bool looks_like_bdat(std::string_view line) noexcept;

// True when the line begins with the verb RCPT: worth parsing before its turn, to ask about recipients
// together.
bool looks_like_rcpt(std::string_view line) noexcept;

}  // namespace mailonce::smtp
