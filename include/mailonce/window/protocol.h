// The claim protocol's state machine (DESIGN.md §4), pure and written once: a verb is a table from what a
// record is to what becomes of it. Every store carries out the same tables: memory through rewrite(), Redis
// in step.lua.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "mailonce/base/clock.h"
#include "mailonce/window/record.h"

namespace mailonce::window {

// What a record is to one owner at one moment.
enum class Class : std::uint8_t {
  absent,
  claimed_mine,     // its lease may have expired: nobody took it
  claimed_other,    // alive
  claimed_expired,  // by another
  sending_mine,
  sending_other,  // alive
  doubt,          // sending and declared, or by another and expired; claimed again after doubt and expired
  sent,
};
inline constexpr std::size_t class_count = 8;

// What a step does with one record. The characters are what step.lua knows.
enum class Action : char {
  keep = '.',
  block = 'x',           // nothing is written for any recipient of the step
  claim = 'c',           // claimed, of this attempt
  claim_doubtful = 'd',  // claimed, doubtful, with the first attempt's Message-ID and content
  extend = 'e',          // the same with a new deadline
  send = 's',            // sending, with a new deadline
  commit = 'S',          // sent, with the Message-ID that went out
  remove = 'r',          // absent; a doubtful record returns to doubt
  declare = 'D',         // doubt
  mark = 'm',            // another's attempt goes on, or its doubt stays, and its release returns to doubt
  slide = 'w',           // sent: the same, and its window starts anew; held by nobody
  forget = 'f',          // absent, whatever it was
};

using Table = std::array<Action, class_count>;

enum class Verb : std::uint8_t {
  claim_resend,  // the three doubt policies
  claim_suppress,
  claim_defer,
  begin,  // blocked: the claim was lost
  commit,
  release,
  renew,
  doubt,  // also where the store forgot the attempt: the message may have been sent
  probe,  // writes a record that ends at once: can the store take writes?
  look,
  // An operator's word (`mailonce window`), by nobody's token. What is alive blocks `forget`.
  forget,
  resolve_sent,      // doubt becomes `sent`
  resolve_not_sent,  // doubt is forgotten: the next attempt is the first
};
inline constexpr std::size_t verb_count = 13;

const Table& table(Verb verb) noexcept;
// The table with what this attempt asks for besides: a claim under a sliding window.
struct Particulars;
Table actions(Verb verb, const Particulars& particulars) noexcept;

// What this attempt writes beside its state.
struct Particulars {
  std::string_view owner;
  milliseconds lease{};
  milliseconds window{};
  milliseconds slide_cap{};  // a claim: how long after the first a repeat may start the window anew; 0: never
  milliseconds age{};        // commit and doubt written back: how long ago it happened
  std::string_view message_id;  // of this attempt; commit: the one that went out
  std::string_view content;
  std::string_view upstream;  // commit
  int reply_code = 0;
  std::string_view reply_text;
};

// `record` must be what the store holds and has not let expire.
Class classify(const Record& record, std::string_view owner, TimePoint now) noexcept;

// True for what leaves the record to this attempt.
constexpr bool writes(Action action) noexcept {
  return action != Action::keep && action != Action::block && action != Action::mark &&
         action != Action::slide;
}

// Carries out a writing action on `record`; false: it is to be deleted. The new record lives lifetime().
bool rewrite(Action action, Record& record, const Particulars& particulars, TimePoint now);

// How long a record lives that was written by `particulars`: a claim its lease, all else the window. Whatever
// an attempt still holds lives at least its lease, so that a short window does not end it under way.
milliseconds lifetime(const Record& record, const Particulars& particulars, TimePoint now) noexcept;
// How long a `sent` record lives on after `slide`, if that is longer than it would.
milliseconds slid_lifetime(const Record& record, const Particulars& particulars, TimePoint now) noexcept;

}  // namespace mailonce::window
