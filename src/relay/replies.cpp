#include "mailonce/relay/replies.h"

#include "mailonce/upstream/upstream.h"

namespace mailonce::relay {

using upstream::Errc;

smtp::Reply reply_to_upstream_error(const error_code& error) {
  if (error == make_error_code(Errc::unreachable))
    return {451, "4.4.1 The upstream server can not be reached, try again later"};
  if (error == make_error_code(Errc::refused))
    return {451, "4.4.1 The upstream server takes no connection now, try again later"};
  if (error == make_error_code(Errc::exhausted))
    return {451, "4.3.2 No upstream connection is free, try again later"};
  if (error == make_error_code(Errc::too_fast))
    return {451, "4.3.2 The upstream's max_rate is used up, try again later"};
  if (error == make_error_code(Errc::malformed_reply))
    return {451, "4.3.0 The upstream server answered nonsense, try again later"};
  if (error == make_error_code(Errc::tls_required))
    return {454, "4.7.0 The upstream server offers no TLS, try again later"};
  if (error == make_error_code(Errc::tls_failed))
    return {454, "4.7.5 TLS to the upstream server failed, try again later"};
  if (error == make_error_code(Errc::auth_failed))
    return {451, "4.7.0 The upstream server did not accept the relay's credential"};
  if (error == make_error_code(Errc::lacks_extension))
    return {451, "4.3.0 The upstream server lacks an extension this message needs"};
  // closed, timed_out and whatever the system says.
  return {451, "4.4.2 The upstream connection failed before the message was sent, try again later"};
}

smtp::Reply store_down_reply() {
  return {451, "4.3.0 The duplicate window can not be asked now, try again later"};
}

smtp::Reply still_undecided_reply() {
  return {451, "4.4.5 Another attempt to send this message is under way, try again later"};
}

smtp::Reply outcome_unknown_reply() {
  return {451, "4.4.2 The upstream server gave no answer, whether the message was sent is not known"};
}

smtp::Reply suppressed_reply() {
  return {250, "2.0.0 Ok: sent before, the outcome of that is not known"};
}

smtp::Reply key_reused_reply() {
  return {554, "5.6.0 The idempotency key was used before for another message"};
}

smtp::Reply mail_loop_reply() {
  return {554, "5.4.6 Mail loop: too many Received fields"};
}

smtp::Reply local_storage_reply() {
  return {452, "4.3.1 Insufficient system storage, try again later"};
}

smtp::Reply internal_error_reply() {
  return {451, "4.3.0 Local error, try again later"};
}

}  // namespace mailonce::relay
