// How a transaction ends without the upstream, and what it says of each decision (P7).
#include "describe.h"
#include "mailonce/relay/replies.h"
#include "mailonce/relay/transaction.h"

namespace mailonce::relay {

using observe::Outcome;

smtp::Reply Transaction::replay() {
  leg_.abandon();
  const auto& first = claiming_->verdicts().front();
  auto line = decision(Outcome::duplicate, first.after_doubt ? "suppressed_doubt" : "in_window");
  describe_first(line, first, claiming_->now());
  describe_claim(line, *claiming_);
  line.reply = first.after_doubt ? suppressed_reply() : first.record.reply;
  auto reply = line.reply;
  log(std::move(line));
  return reply;
}

void Transaction::not_taken(std::string reason, smtp::Reply reply) {
  const auto outcome = reply.permanent() ? Outcome::refused : Outcome::deferred;
  refuse(outcome, std::move(reason), std::move(reply));
}

// What is said of the duplicates once it is known what became of the rest. Observe mode sent to all.
void Transaction::log_apart(const observe::Decision& sent) {
  auto line = std::move(*apart_);
  apart_.reset();
  line.steps = sent.steps;
  if (observing()) {
    line.would_drop = true;
    line.outcome = sent.outcome;
    line.reason = sent.outcome == Outcome::forwarded ? "observed" : sent.reason;
    line.upstream = sent.upstream;
    line.reply = sent.reply;
  }
  log(std::move(line));
}

smtp::Reply Transaction::refuse(Outcome outcome, std::string reason, smtp::Reply reply) {
  leg_.abandon();
  auto line = decision(outcome, std::move(reason));
  line.reply = reply;
  log(std::move(line));
  return reply;
}

observe::Decision Transaction::decision(Outcome outcome, std::string reason) const {
  observe::Decision line;
  line.outcome = outcome;
  line.reason = std::move(reason);
  line.session = origin_.session;
  line.client = origin_.client;
  line.sender = sender_.address.text();
  // The leg forgets those that are set apart.
  const auto& recipients = promised_.empty() ? leg_.accepted() : promised_;
  for (const auto& recipient : recipients) line.recipients.push_back(recipient.address.text());
  line.message_id = facts_.message_id;
  if (identity_) {
    line.fingerprint = identity_->fingerprint.base64url();
    line.strategy = identity_->strategy.name();
  }
  line.rule = relay_.options.rule;
  line.octets = octets_;
  line.steps = steps_;
  return line;
}

void Transaction::log(observe::Decision line) {
  line.steps.total = std::chrono::duration_cast<std::chrono::microseconds>(SteadyClock::now() - started_);
  relay_.log.decision(line);
}

}  // namespace mailonce::relay
