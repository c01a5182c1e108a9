// The claims of one message over its recipients: waiting while another attempt is under way, and telling
// duplicates, conflicts and new ones apart (DESIGN.md §4, §5). Holds what it claimed until commit, release or
// doubt.
#pragma once
#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mailonce/message/identity.h"
#include "mailonce/relay/relay.h"
#include "mailonce/smtp/envelope.h"
#include "mailonce/window/window.h"

namespace mailonce::relay {

using boost::asio::awaitable;

// The recipients for whom one policy decides, and who the message is under it.
struct Lot {
  const Policy* policy;
  std::optional<message::Identity> identity;  // none: no strategy applies, or the mode is off
  std::vector<std::size_t> recipients;        // places among the transaction's

  bool observes() const noexcept { return policy->mode == Mode::observe; }
};

// What was found for one recipient.
struct Finding {
  enum class What {
    claimed,    // sent, and recorded
    duplicate,  // not sent
    unclaimed   // sent without a record: no identity, mode off, or observed
  } what = What::unclaimed;
  std::string_view reason;       // unclaimed: why
  bool would_drop = false;       // unclaimed: enforce would not have sent it now
  bool content_differs = false;  // the record is of other content under the same key or Message-ID
  window::RecipientVerdict
      record;       // claimed after doubt, and what is or would be a duplicate: what was found
  TimePoint now{};  // the store's time, to tell the record's age
  window::Source source = window::Source::store;
};

class Claiming {
 public:
  // How the claim ended. Only `decided` holds anything.
  enum class End {
    decided,     // there is a finding for each recipient
    busy,        // another attempt had not ended within the wait
    abandoned,   // while it waited, the client left
    in_doubt,    // doubt, and the policy is that a person decides
    conflict,    // key or id used before with other content, and the policy is to refuse
    store_down,  // the store did not answer, and the policy is to defer
  };

  // All refer to the transaction's and must outlive it. Each recipient is in one lot.
  Claiming(const Relay& relay, std::span<const Lot> lots, std::span<const smtp::Recipient> recipients);

  // Claims, waiting at most `wait`, and no longer than the client (`left`, may be empty). May be called again
  // after the claim was lost.
  awaitable<End> claim(milliseconds wait, const std::function<bool()>& left);

  // After `decided`, one a recipient, in order.
  const std::vector<Finding>& findings() const noexcept { return findings_; }
  bool any_to_send() const noexcept;
  bool any_duplicate() const noexcept;
  // The Message-ID that a resend after doubt carries; empty when there is none or they disagree (§4).
  std::string first_message_id() const;

  // All claims together. begin(): lost when any was that is not only observed; `message_id` is the one that
  // goes out. Repeating it is allowed.
  awaitable<Result<window::Begun>> begin(std::string message_id);
  awaitable<void> commit(smtp::Reply reply, std::string upstream);
  awaitable<void> release();
  awaitable<void> doubt();

 private:
  // Recipients of a lot that share a fingerprint: the identity's own, or that of other content under the same
  // key (§5).
  struct Group {
    const Lot* lot;
    Digest fingerprint;
    bool own;
    std::vector<std::size_t> recipients;
  };
  struct Held {
    std::shared_ptr<window::Claim> claim;
    bool observed;
  };
  enum class Pass { held, busy, in_doubt, store_down, regrouped, conflict };

  awaitable<Pass> pass();
  awaitable<Pass> claim_group(const Group& group);
  Pass judge(const Group& group, const window::ClaimAnswer& answer);
  void spread(const Group& group, const window::ClaimAnswer& answer);
  void observe(const Group& group, Pass met);
  window::ClaimRequest request(const Group& group) const;
  std::vector<Group> groups() const;

  const Relay& relay_;
  std::span<const Lot> lots_;
  std::vector<std::string> digests_;  // one a recipient; equal for a recipient named twice
  std::vector<bool> other_content_;   // the recipient's record is kept under the other content's fingerprint
  std::vector<Finding> findings_;
  std::vector<Held> claims_;
  Digest blocked_on_;  // the fingerprint last found busy
};

}  // namespace mailonce::relay
