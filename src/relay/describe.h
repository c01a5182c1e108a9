// What a decision's log line says of the first attempt and of the claims.
#pragma once
#include "mailonce/observe/decision.h"
#include "mailonce/relay/claiming.h"

namespace mailonce::relay {

void describe_first(observe::Decision& line, const window::RecipientVerdict& verdict, TimePoint now);
void describe_claim(observe::Decision& line, const Claiming& claiming);

}  // namespace mailonce::relay
