// The window as a transaction sees it: the claim protocol of DESIGN.md §4 over some store. One instance a
// worker (io_context); every call runs on that worker's thread.
//
// An error means that the store did not answer and the policy is `defer`: it never means "duplicate" (P8).
#pragma once
#include <boost/asio/awaitable.hpp>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mailonce/base/clock.h"
#include "mailonce/base/digest.h"
#include "mailonce/base/result.h"
#include "mailonce/smtp/reply.h"
#include "mailonce/window/record.h"

namespace mailonce::window {

using boost::asio::awaitable;

enum class DoubtPolicy { resend, suppress, defer };
enum class StoreDownPolicy { local, defer, forward };

struct ClaimRequest {
  Digest fingerprint;
  std::vector<std::string> recipients;  // recipient digests, without repetition
  std::string content;                  // content fingerprint, base64url
  std::string message_id;               // of this attempt
  DoubtPolicy doubt = DoubtPolicy::resend;
  StoreDownPolicy store_down = StoreDownPolicy::local;
  milliseconds window{};  // how long a record lives once sending or sent
  // Zero: `sent` lives for its window. Else a repeat starts the window anew, up to so long after the first.
  milliseconds slide_cap{};
};

// What the claim found for one recipient.
enum class Verdict { mine, duplicate, busy };
struct RecipientVerdict {
  Verdict verdict = Verdict::busy;
  bool after_doubt = false;  // mine: an earlier attempt may have been sent (`resend`); duplicate: not known
                             // to be sent (`suppress`)
  Record record;             // duplicate, or after doubt: what was found; otherwise empty
};

// What begin() found: the records are `sending`, or the claim was lost. (Not a bool: a Result<bool> converts
// from another one's being a value.)
enum class Begun { sending, lost };

// One attempt's hold on its records. Made by Window::claim; ended by exactly one of commit, release, doubt.
// Destroying it before its end releases it in the background, so every early return releases;
// after begin() it declares doubt instead. Its lease is renewed while it lives.
class Claim {
 public:
  virtual ~Claim() = default;

  // claimed → sending, of a message that goes out with `message_id`. Lost: nothing may be sent, claim again.
  // Must have returned `sending` before the final dot is written. May be repeated.
  virtual awaitable<Result<Begun>> begin(std::string message_id) = 0;
  // The upstream's 2xx. Always recorded in the end: what the store can not take now is kept, answered from
  // memory and retried for as long as the process lives. True: it is in the store now.
  virtual awaitable<bool> commit(smtp::Reply reply, std::string upstream) = 0;
  // A definite refusal, or any failure before the dot. An error is logged by the window; the lease ends it.
  virtual awaitable<void> release() = 0;
  // The outcome is unknown: declares doubt at once instead of at the lease's end.
  virtual awaitable<void> doubt() = 0;
};

// Where a claim was decided.
enum class Source { store, local, unasked };

struct ClaimAnswer {
  bool busy = false;                       // then nothing is held and `claim` is null
  std::vector<RecipientVerdict> verdicts;  // one a requested recipient, in order
  std::unique_ptr<Claim> claim;            // holds the recipients that are `mine`; null when there is none
  Source source = Source::store;
  TimePoint now{};  // the store's time, to tell a record's age
};

class Window {
 public:
  virtual ~Window() = default;

  // Atomic over its recipients, and all or nothing when anything is busy.
  virtual awaitable<Result<ClaimAnswer>> claim(ClaimRequest request) = 0;

  // After `busy`: returns when an attempt on this fingerprint ended in this process, or after `at_most`.
  virtual awaitable<void> changed(Digest fingerprint, milliseconds at_most) = 0;

  // At the end, when nobody claims any more: waits until the store has every commit, doubt and release, at
  // most so long.
  virtual awaitable<void> settle(milliseconds at_most) = 0;

  // For `check --connect` and the admin side: one round trip to the store.
  virtual awaitable<Result<>> ping() = 0;
};

}  // namespace mailonce::window
