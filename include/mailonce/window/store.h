// Where records are kept. A store knows no protocol: it carries out one verb's table on the records of one
// fingerprint, atomically.
#pragma once
#include <boost/asio/awaitable.hpp>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "mailonce/base/digest.h"
#include "mailonce/base/result.h"
#include "mailonce/window/protocol.h"
#include "mailonce/window/window.h"

namespace mailonce::window {

// One operation. Views: what they show must outlive the step.
struct Step {
  Verb verb = Verb::look;
  Digest fingerprint;
  std::span<const std::string> recipients;  // recipient digests, without repetition
  Particulars particulars;
  // What to do when the store does not answer, and where the claim was decided; only the guard asks.
  StoreDownPolicy store_down = StoreDownPolicy::defer;
  Source held = Source::store;
};

struct StepResult {
  bool blocked = false;        // nothing was written
  TimePoint now{};             // the store's time
  std::vector<Record> before;  // one a recipient, in order; as it was found
  Source source = Source::store;
  bool kept = false;  // commit: not in the store yet, it will be written back
};

// A record as it stands in the store.
struct StoredRecord {
  Digest fingerprint;
  std::string recipient;  // its digest
  Record record;
  milliseconds left{};  // until it ends
};

class Store {
 public:
  virtual ~Store() = default;
  // Repeating a step with the same owner is harmless: a claim finds itself, begin and commit stay what they
  // are.
  virtual awaitable<Result<StepResult>> step(Step step) = 0;
  // Shows every record there is throughout, at least once and in no order, and perhaps some that come or go
  // meanwhile. In a Cluster a record may be missed whose slot moves meanwhile. For an operator: it reads the
  // whole store.
  virtual awaitable<Result<>> visit(std::function<void(const StoredRecord&)> see) = 0;
  // What of its settings may lose records, one sentence each with the cure; empty when it cannot be asked.
  virtual awaitable<std::vector<std::string>> warnings();
  // Waits until what is still to be written is, at most so long.
  virtual awaitable<void> settle(milliseconds at_most);
  // The worker ends: work in the background stops, and what it could not do is logged.
  virtual void stop() {}
};

// One write of a record that ends at once, in one round trip: can the store take what a transaction needs?
awaitable<Result<>> probe_store(Store& store);

}  // namespace mailonce::window
