// The client's side of AUTH PLAIN (RFC 4616), LOGIN (draft-murchison-sasl-login) and XOAUTH2 over SMTP (RFC
// 4954): lines for an output buffer. They hold secrets: neither logged nor kept.
#pragma once
#include <string>
#include <string_view>

#include "mailonce/base/result.h"

namespace mailonce::smtp {

// "AUTH PLAIN <initial response>\r\n". Errors: Errc::bad_parameter when the user name is empty or either
// holds a NUL (RFC 4616 §2).
Result<> append_auth_plain(std::string& out, std::string_view user, std::string_view password);

// "AUTH LOGIN\r\n"; the server's two 334 are answered with the user name, then the password, whatever their
// text.
void append_auth_login(std::string& out);
void append_login_answer(std::string& out, std::string_view value);

// "AUTH XOAUTH2 <initial response>\r\n" (Google's protocol). A 334 in answer holds an error, and an empty
// line asks for the refusal. Errors: Errc::bad_parameter when either holds a control character.
Result<> append_auth_xoauth2(std::string& out, std::string_view user, std::string_view token);

}  // namespace mailonce::smtp
