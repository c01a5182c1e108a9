// What a decision's log line says of the record that was found.
#pragma once
#include "mailonce/observe/decision.h"
#include "mailonce/relay/claiming.h"

namespace mailonce::relay {

// Where it was found, what it means, and the first message, which this one repeats or may repeat.
void describe_finding(observe::Decision& line, const Finding& finding);

}  // namespace mailonce::relay
