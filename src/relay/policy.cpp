#include "mailonce/relay/policy.h"

namespace mailonce::relay {

using Kind = message::Strategy::Kind;

milliseconds Policy::window_of(Kind kind) const noexcept {
  switch (kind) {
    case Kind::content:
      return content_window;
    case Kind::key:
      return key_window;
    case Kind::message_id:
    case Kind::header:
      break;
  }
  return message_id_window;
}

Conflict Policy::conflict_of(Kind kind) const noexcept {
  return kind == Kind::key ? key_conflict : message_id_conflict;
}

// A rule's scope is "<policy's>\n<rule>", so that an empty line begins what no rule's name holds.
std::string scope_of(const Policy& policy, std::string_view credential) {
  return credential.empty() ? policy.scope : policy.scope + "\n\n" + std::string(credential);
}

}  // namespace mailonce::relay
