// What `explain` finds out about messages, before it is printed for people or as JSON.
#pragma once
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "mailonce/message/comparison.h"
#include "mailonce/message/description.h"
#include "mailonce/relay/options.h"
#include "mails.h"

namespace mailonce::cli {

// One policy's judgement over some of a message's recipients.
struct Judgement {
  const relay::Policy* policy;
  std::vector<std::string> recipients;  // empty: nobody is named, and the policy is the one for all others
  std::optional<message::Identity> identity;
};

struct Explained {
  const Mail* mail;
  std::vector<Judgement> judgements;  // at least one
};

// Of a second message, repeating the first.
struct Verdict {
  bool duplicate;
  std::string sentence;
};

// `envelope` as the command line gives it; what it does not give is read from the message's header.
struct Envelope {
  std::optional<smtp::Sender> sender;
  std::vector<smtp::Recipient> recipients;
  std::string user;  // as which the client logged in
};

Explained explain(const Mail& mail, const relay::Options& options, const Envelope& envelope);
Verdict judge(const message::Comparison& comparison, const relay::Policy& policy);
// Of the message at `index`: the place of the first before it that it repeats under some policy.
std::optional<std::size_t> first_of(const std::vector<Explained>& all, std::size_t index);

// Printing. `color`: escape sequences for a terminal.
void print_one(std::ostream& out, const Explained& mail, bool color);
void print_two(std::ostream& out, const Explained& a, const Explained& b,
               const message::Comparison& comparison, const Verdict& verdict, bool color);
void print_many(std::ostream& out, const std::vector<Explained>& all);
void print_one_json(std::ostream& out, const Explained& mail);
void print_two_json(std::ostream& out, const Explained& a, const Explained& b,
                    const message::Comparison& comparison, const Verdict& verdict);
void print_many_json(std::ostream& out, const std::vector<Explained>& all);

}  // namespace mailonce::cli
