#include "mailonce/window/protocol.h"

#include <algorithm>
#include <string>

namespace mailonce::window {
namespace {

constexpr Table parse(std::string_view actions) {
  Table table{};
  for (std::size_t i = 0; i < class_count; ++i) table[i] = static_cast<Action>(actions[i]);
  return table;
}

// Columns: absent, claimed by me, by another alive, by another expired, sending by me, by another alive,
// doubt, sent.
constexpr std::array<Table, verb_count> tables{
    parse("cexcxxd."),  // claim_resend
    parse("cexcxx.."),  // claim_suppress: doubt answers as a duplicate
    parse("cexcxxx."),  // claim_defer: doubt blocks until a person decides
    parse("xsxxsxxx"),  // begin: sending by me is a repeat of the same command
    parse("SSSSSSS."),  // commit: records the fact, whoever owns the record; the first one stays
    parse(".r..r..."),  // release
    parse(".e..e..."),  // renew
    parse("DDmDDmm."),  // doubt: written late it meets another's attempt or doubt, which do not know of it
    parse("ce.c...."),  // probe
    parse("........"),  // look
    parse(".xxfxxff"),  // forget
    parse("......S."),  // resolve_sent
    parse("......f."),  // resolve_not_sent
};

}  // namespace

const Table& table(Verb verb) noexcept {
  return tables[static_cast<std::size_t>(verb)];
}

Table actions(Verb verb, const Particulars& particulars) noexcept {
  auto out = table(verb);
  const bool claims = verb == Verb::claim_resend || verb == Verb::claim_suppress || verb == Verb::claim_defer;
  if (claims && particulars.slide_cap > milliseconds(0))
    out[static_cast<std::size_t>(Class::sent)] = Action::slide;
  return out;
}

Class classify(const Record& record, std::string_view owner, TimePoint now) noexcept {
  const bool mine = record.owner == owner;
  const bool alive = record.deadline > now;
  switch (record.state) {
    case State::absent:
      return Class::absent;
    case State::sent:
      return Class::sent;
    case State::claimed:
      if (mine) return Class::claimed_mine;
      if (alive) return Class::claimed_other;
      return record.doubtful ? Class::doubt : Class::claimed_expired;
    case State::sending:
      if (record.deadline == TimePoint{}) return Class::doubt;
      if (mine) return Class::sending_mine;
      return alive ? Class::sending_other : Class::doubt;
  }
  return Class::absent;
}

namespace {

void declare(Record& record, const Particulars& particulars, TimePoint now) {
  if (record.owner != particulars.owner) {
    record = Record{};
    record.owner = particulars.owner;
    record.message_id = particulars.message_id;
    record.content = particulars.content;
  }
  record.state = State::sending;
  record.doubtful = false;
  record.deadline = TimePoint{};
  record.at = now - particulars.age;
}

void commit(Record& record, const Particulars& particulars, TimePoint now) {
  record.message_id = particulars.message_id;
  record.state = State::sent;
  record.owner = particulars.owner;
  record.deadline = TimePoint{};
  record.at = now - particulars.age;
  record.doubtful = false;
  record.content = particulars.content;
  record.upstream = particulars.upstream;
  record.reply = {particulars.reply_code, std::string(particulars.reply_text)};
}

}  // namespace

bool rewrite(Action action, Record& record, const Particulars& particulars, TimePoint now) {
  switch (action) {
    case Action::claim:
      record = Record{};
      record.message_id = particulars.message_id;
      record.content = particulars.content;
      break;
    case Action::claim_doubtful:
      record.doubtful = true;
      // Of what content it was nobody can tell: no conflict may come of it.
      if (record.unreadable) record.content = particulars.content;
      break;
    case Action::extend:
      record.deadline = now + particulars.lease;
      return true;
    case Action::send:
      record.state = State::sending;
      record.deadline = now + particulars.lease;
      record.at = now;
      return true;
    case Action::commit:
      commit(record, particulars, now);
      return true;
    case Action::remove:
      if (!record.doubtful) return false;
      declare(record, particulars, now);
      return true;
    case Action::forget:
      return false;
    case Action::declare:
      declare(record, particulars, now);
      return true;
    case Action::mark:
      record.doubtful = true;
      record.message_id = particulars.message_id;
      record.content = particulars.content;
      return true;
    case Action::keep:
    case Action::block:
    case Action::slide:
      return true;
  }
  record.state = State::claimed;
  record.owner = particulars.owner;
  record.deadline = now + particulars.lease;
  record.at = now;
  return true;
}

milliseconds lifetime(const Record& record, const Particulars& particulars, TimePoint now) noexcept {
  const auto held = std::max(particulars.window, particulars.lease);
  const auto lease = std::chrono::duration_cast<milliseconds>(record.deadline - now);
  milliseconds life = std::max(held - particulars.age, lease);
  if (record.state == State::claimed && !record.doubtful) life = particulars.lease;
  // Nobody holds a declared doubt any more.
  const bool declared = record.state == State::sending && record.deadline == TimePoint{};
  if (record.state == State::sent || declared) life = particulars.window - particulars.age;
  return std::max(life, milliseconds(1));
}

milliseconds slid_lifetime(const Record& record, const Particulars& particulars, TimePoint now) noexcept {
  const auto left = std::chrono::duration_cast<milliseconds>(record.at + particulars.slide_cap - now);
  return std::min(particulars.window, left);
}

}  // namespace mailonce::window
