#include "mailonce/window/attempt.h"

namespace mailonce::window {

Step Attempt::step(Verb verb) const {
  Step out;
  out.verb = verb;
  out.fingerprint = fingerprint;
  out.recipients = recipients;
  out.particulars.owner = owner;
  out.particulars.lease = lease;
  out.particulars.window = window;
  out.particulars.slide_cap = slide_cap;
  out.particulars.message_id = message_id;
  out.particulars.content = content;
  out.particulars.upstream = upstream;
  out.particulars.reply_code = reply.code;
  out.particulars.reply_text = reply.text;
  out.store_down = store_down;
  out.held = held;
  return out;
}

Attempt attempt_of(const Step& step) {
  Attempt out;
  out.fingerprint = step.fingerprint;
  out.recipients.assign(step.recipients.begin(), step.recipients.end());
  out.owner = step.particulars.owner;
  out.message_id = step.particulars.message_id;
  out.content = step.particulars.content;
  out.upstream = step.particulars.upstream;
  out.reply = {step.particulars.reply_code, std::string(step.particulars.reply_text)};
  out.lease = step.particulars.lease;
  out.window = step.particulars.window;
  out.slide_cap = step.particulars.slide_cap;
  out.store_down = step.store_down;
  out.held = step.held;
  return out;
}

}  // namespace mailonce::window
