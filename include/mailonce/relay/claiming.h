// The claims of one message over its recipients: waiting while another attempt is under way, and telling
// duplicates, conflicts and new ones apart (DESIGN.md §4, §5). Holds what it claimed until commit, release or
// doubt.
#pragma once
#include <boost/asio/awaitable.hpp>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mailonce/message/identity.h"
#include "mailonce/relay/relay.h"
#include "mailonce/smtp/envelope.h"
#include "mailonce/window/window.h"

namespace mailonce::relay {

using boost::asio::awaitable;

class Claiming {
 public:
  // How the claim ended. Only `decided` holds anything.
  enum class End {
    decided,     // each recipient is mine or a duplicate
    busy,        // another attempt had not ended within the wait
    in_doubt,    // doubt, and the policy is that a person decides
    conflict,    // key or id used before with other content, and the policy is to refuse
    store_down,  // the store did not answer, and the policy is to defer
  };

  Claiming(const Relay& relay, const message::Identity& identity,
           std::span<const smtp::Recipient> recipients);

  // Claims, waiting at most `wait`. May be called again after the claim was lost.
  awaitable<End> claim(milliseconds wait);

  // After `decided`, one a recipient, in order.
  const std::vector<window::RecipientVerdict>& verdicts() const noexcept { return verdicts_; }
  bool content_differs(std::size_t recipient) const { return differs_[recipient]; }
  bool any_mine() const noexcept;
  bool any_duplicate() const noexcept;
  window::Source source() const noexcept { return source_; }
  TimePoint now() const noexcept { return now_; }
  // The Message-ID that a resend after doubt carries; empty when there is none or they disagree (§4).
  std::string first_message_id() const;

  // All claims together. begin(): lost when any was. Repeating it is allowed.
  awaitable<Result<window::Begun>> begin();
  awaitable<void> commit(smtp::Reply reply, std::string upstream);
  awaitable<void> release();
  awaitable<void> doubt();

 private:
  // Recipients that share a fingerprint: the identity's own, or that of other content under the same key
  // (§5).
  struct Group {
    Digest fingerprint;
    std::vector<std::size_t> recipients;
  };
  enum class Pass { held, busy, in_doubt, store_down, regrouped, conflict };

  awaitable<Pass> pass();
  awaitable<Pass> claim_group(const Group& group, bool own);
  Pass judge(const Group& group, bool own, const window::ClaimAnswer& answer);
  window::ClaimRequest request(const Group& group) const;
  std::vector<Group> groups() const;
  Conflict conflict_policy() const noexcept;
  milliseconds window_length() const noexcept;

  const Relay& relay_;
  const message::Identity& identity_;
  std::vector<std::string> digests_;  // one a recipient; equal for a recipient named twice
  std::vector<bool> other_content_;   // the recipient's record is kept under the other content's fingerprint
  std::vector<bool> differs_;
  std::vector<window::RecipientVerdict> verdicts_;
  std::vector<std::shared_ptr<window::Claim>> claims_;
  window::Source source_ = window::Source::store;
  TimePoint now_{};
  Digest blocked_on_;  // the fingerprint last found busy
};

}  // namespace mailonce::relay
