// Which policy decides for which recipient of which message (DESIGN.md §5, "Rules"): the first rule that
// matches.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "mailonce/message/pattern.h"
#include "mailonce/relay/policy.h"
#include "mailonce/smtp/envelope.h"

namespace mailonce::relay {

// Each criterion that is given must be met, by any one of its patterns. Without criteria: all mail.
struct Match {
  struct Header {
    std::string name;
    std::vector<message::Pattern> patterns;  // of any field of that name, as it reads decoded
  };
  std::vector<message::Pattern> senders;      // of the envelope; empty for a bounce
  std::vector<message::Pattern> recipients;   // of the envelope, each for itself
  std::vector<message::Pattern> credentials;  // as which user the client logged in; one that did not is none
  std::vector<Header> headers;                // Subject among them
};

struct Rule {
  Match match;
  Policy policy;
};

// The rules that a message of `user` (empty: not logged in) meets, whatever its recipient. `rules` and
// `otherwise` must outlive it; `message` is read by the constructor only, and not at all when no rule asks
// for a header.
class RuleChoice {
 public:
  RuleChoice(const std::vector<Rule>& rules, const Policy& otherwise, const smtp::Sender& sender,
             std::string_view user, std::string_view message);

  const Policy& policy_for(const smtp::Recipient& recipient) const;

 private:
  std::vector<const Rule*> met_;
  const Policy& otherwise_;
};

}  // namespace mailonce::relay
