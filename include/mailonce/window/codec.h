// A record as text, for stores that keep one string a record:
//
//   1<state><doubtful> <deadline> <at> <owner> <n>:<message-id><rest>
//   rest = <n>:<content><n>:<upstream><code> <n>:<reply text>
//
// 1 is the version, state c, s or S, doubtful 0 or 1, times milliseconds since 1970, <n>: a length in octets.
// A script needs no more than the first line's pattern; `rest` it copies.
#pragma once
#include <string>
#include <string_view>

#include "mailonce/window/protocol.h"
#include "mailonce/window/record.h"

namespace mailonce::window {

// `rest` of a record written by this attempt.
std::string encode_rest(const Particulars& particulars);
// A text that is no record of this version is an `unreadable` one: a later version may have sent the message.
Record decode(std::string_view text);

}  // namespace mailonce::window
