// One step on records that are read and written one by one: the two passes of Store::step, for the stores
// that carry them out in this process. `Records` has
//
//   Record find(recipient)                absent when there is none, or it has ended
//   void put(recipient, Record, ends)     written anew; `ends` is its last millisecond
//   void prolong(recipient, ends)         unless it lives longer already
//   TimePoint end_of(recipient)           of one that was found
//   void erase(recipient)
#pragma once
#include <algorithm>

#include "mailonce/window/store.h"

namespace mailonce::window {

template <class Records>
StepResult perform(const Step& step, TimePoint now, Records& records) {
  const auto& particulars = step.particulars;
  const Table does = actions(step.verb, particulars);
  const auto action_for = [&](const Record& found) {
    return does[static_cast<std::size_t>(classify(found, particulars.owner, now))];
  };
  StepResult result;
  result.now = now;
  result.before.reserve(step.recipients.size());
  for (const auto& recipient : step.recipients) {
    result.before.push_back(records.find(recipient));
    if (action_for(result.before.back()) == Action::block) result.blocked = true;
  }
  if (result.blocked) return result;

  for (std::size_t i = 0; i < step.recipients.size(); ++i) {
    const auto& recipient = step.recipients[i];
    const auto& found = result.before[i];
    const auto action = action_for(found);
    if (action == Action::keep) continue;
    if (action == Action::slide) {
      records.prolong(recipient, now + slid_lifetime(found, particulars, now));
      continue;
    }
    Record record = found;
    if (rewrite(action, record, particulars, now)) {
      auto ends = now + lifetime(record, particulars, now);
      // What another attempt wrote lives as long as it said.
      if (action == Action::mark) ends = std::max(ends, records.end_of(recipient));
      records.put(recipient, std::move(record), ends);
    } else {
      records.erase(recipient);
    }
  }
  return result;
}

}  // namespace mailonce::window
