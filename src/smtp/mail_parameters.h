// The ESMTP parameters of MAIL and RCPT (RFC 5321 §4.1.2): SIZE (RFC 1870), BODY (RFC 6152), AUTH (RFC 4954),
// SMTPUTF8 (RFC 6531), REQUIRETLS (RFC 8689), RET, ENVID, NOTIFY and ORCPT (RFC 3461).
#pragma once
#include <string_view>

#include "mailonce/base/result.h"
#include "mailonce/smtp/envelope.h"

namespace mailonce::smtp {

// Puts the values into `sender`. Errors: Errc::unknown_parameter, Errc::bad_parameter (bad or repeated).
error_code parse_mail_parameters(std::string_view text, Sender& sender);
// RCPT's: NOTIFY, ORCPT (RFC 3461).
error_code parse_rcpt_parameters(std::string_view text, Recipient& recipient);

}  // namespace mailonce::smtp
