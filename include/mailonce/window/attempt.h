// One attempt's own copy of what its steps say, for as long as it may still have steps to take.
#pragma once
#include <string>
#include <vector>

#include "mailonce/smtp/reply.h"
#include "mailonce/window/store.h"

namespace mailonce::window {

struct Attempt {
  Digest fingerprint;
  std::vector<std::string> recipients;
  std::string owner;
  std::string message_id;
  std::string content;
  std::string upstream;  // commit
  smtp::Reply reply;     // commit
  milliseconds lease{};
  milliseconds window{};
  milliseconds slide_cap{};
  StoreDownPolicy store_down = StoreDownPolicy::local;
  Source held = Source::store;

  // Views into this attempt.
  Step step(Verb verb) const;
};

// An owning copy of a step.
Attempt attempt_of(const Step& step);

}  // namespace mailonce::window
