// The envelope a message would most likely have, for rules that match on it.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "mailonce/smtp/envelope.h"

namespace mailonce::cli {

// The addresses of an address field (RFC 5322 §3.4), without names, comments and groups.
std::vector<std::string> addresses_in(std::string_view field_value);

// From the fields Return-Path, Sender or From, the first there is; nothing when none holds an address.
smtp::Sender sender_of(std::string_view message);
// From To, Cc and Bcc.
std::vector<smtp::Recipient> recipients_of(std::string_view message);

}  // namespace mailonce::cli
