// How a transaction ends without the upstream, and what it says of each decision (P7).
#include <algorithm>

#include "describe.h"
#include "mailonce/relay/replies.h"
#include "mailonce/relay/transaction.h"

namespace mailonce::relay {

using observe::Outcome;
using What = Finding::What;

namespace {

bool say_the_same(const Finding& a, const Finding& b) {
  return a.what == b.what && a.reason == b.reason && a.would_drop == b.would_drop &&
         a.content_differs == b.content_differs && a.source == b.source &&
         a.record.after_doubt == b.record.after_doubt && a.record.record == b.record.record;
}

}  // namespace

smtp::Reply Transaction::replay() {
  leg_.abandon();
  const auto& first = claiming_->findings().front().record;
  const auto reply = first.after_doubt ? suppressed_reply() : first.record.reply;
  log_ending({Outcome::duplicate, {}, reply});
  return reply;
}

void Transaction::not_taken(std::string reason, smtp::Reply reply) {
  const auto outcome = reply.permanent() ? Outcome::refused : Outcome::deferred;
  refuse(outcome, reason, std::move(reply));
}

smtp::Reply Transaction::refuse(Outcome outcome, const std::string& reason, smtp::Reply reply) {
  leg_.abandon();
  std::vector<observe::Decision> lines;
  for (const auto& lot : lots_) lines.push_back(decision(lot, outcome, reason));
  if (lines.empty()) lines.push_back(decision(outcome, reason));
  for (auto& line : lines) {
    line.reply = reply;
    log(std::move(line));
  }
  return reply;
}

// One line for all recipients of whom the same is to be said; nearly always one for the message.
void Transaction::log_ending(const Ending& ending) {
  struct Line {
    const Lot* lot;
    const Finding* finding;
    observe::Decision decision;
  };
  const auto& findings = claiming_->findings();
  std::vector<Line> lines;
  for (const auto& lot : lots_) {
    for (const auto i : lot.recipients) {
      auto line = std::find_if(lines.begin(), lines.end(), [&](const Line& other) {
        return other.lot == &lot && say_the_same(*other.finding, findings[i]);
      });
      if (line == lines.end())
        line = lines.insert(line, {&lot, &findings[i], decision(lot, findings[i], ending)});
      line->decision.recipients.push_back(promised_[i].address.text());
    }
  }
  for (auto& line : lines) log(std::move(line.decision));
}

observe::Decision Transaction::decision(const Lot& lot, const Finding& finding, const Ending& ending) const {
  const auto& record = finding.record;
  observe::Decision line;
  if (finding.what == What::duplicate) {
    line = decision(lot, Outcome::duplicate, record.after_doubt ? "suppressed_doubt" : "in_window");
    line.upstream = record.record.upstream;
    line.reply = record.after_doubt ? suppressed_reply() : record.record.reply;
  } else {
    const bool claimed = finding.what == What::claimed;
    const std::string_view as_found = claimed ? (record.after_doubt ? "after_doubt" : "new") : finding.reason;
    line = decision(lot, ending.outcome, ending.reason.empty() ? std::string(as_found) : ending.reason);
    line.possible_duplicate = claimed && record.after_doubt;
    line.upstream = leg_.upstream_name();
    line.reply = ending.reply;
  }
  line.recipients.clear();
  if (lot.identity) describe_finding(line, finding);
  return line;
}

observe::Decision Transaction::decision(const Lot& lot, Outcome outcome, std::string reason) const {
  auto line = decision(outcome, std::move(reason));
  line.recipients.clear();
  for (const auto i : lot.recipients) line.recipients.push_back(promised_[i].address.text());
  line.rule = lot.policy->rule;
  if (!lot.identity) return line;
  line.fingerprint = lot.identity->fingerprint.base64url();
  line.strategy = lot.identity->strategy.name();
  return line;
}

// Before anything is known of the message.
observe::Decision Transaction::decision(Outcome outcome, std::string reason) const {
  observe::Decision line;
  line.outcome = outcome;
  line.reason = std::move(reason);
  line.session = origin_.session;
  line.client = origin_.client;
  line.user = origin_.user;
  line.sender = sender_.address.text();
  if (lots_.empty()) {
    for (const auto& recipient : leg_.accepted()) line.recipients.push_back(recipient.address.text());
  }
  line.message_id = facts_.message_id;
  line.octets = octets_;
  line.steps = steps_;
  return line;
}

void Transaction::log(observe::Decision line) {
  line.steps.total = std::chrono::duration_cast<std::chrono::microseconds>(SteadyClock::now() - started_);
  relay_.log.decision(line);
}

}  // namespace mailonce::relay
