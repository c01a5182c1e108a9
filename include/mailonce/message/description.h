// What counts in a message and what does not, in the order a person reads it: the canonical form made visible
// (DESIGN.md §1 P7). Pure: text in, values out; `mailonce explain` prints them.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "mailonce/message/identity.h"

namespace mailonce::message {

// One line, header field, part or property of the message.
struct DescribedItem {
  bool counts = true;  // part of the canonical form
  std::string where;   // "header", "HTML text", "attachment 1 a.png", "attached message 1 header"
  std::string what;    // "Subject", "file name", "text", "content", "boundary"
  std::string value;   // as the canonical form reads it: UTF-8; text keeps its lines (LF); other content is
                       // "1234 octets, sha256 …". Control characters other than LF and HT are shown as \xNN
  std::string why;  // why it does not count, or how it had to be read ("taken as bytes: …"); may be empty
};

// Every item of `message` (as for identify), counted or not: the header in the message's own order, then the
// parts. Linear in the message.
std::vector<DescribedItem> describe(std::string_view message, const IdentityOptions& options);

}  // namespace mailonce::message
