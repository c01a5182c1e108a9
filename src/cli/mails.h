// The messages a person names: files, standard input, mailboxes.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "commands.h"

namespace mailonce::cli {

struct Mail {
  std::string name;    // "a.eml", "box.mbox#3"
  std::string octets;  // as a client would send it: CRLF line ends
};

// `path`: a message, an mbox file (it begins with "From "), a maildir (cur and new), a folder of *.eml files,
// or
// "-" for standard input. Nothing when it can not be read or holds no message: said on `streams.err`.
std::optional<std::vector<Mail>> read_mails(const std::string& path, Streams streams);

}  // namespace mailonce::cli
