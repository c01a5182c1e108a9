// How addresses stand in the log (LogOptions::addresses). Whoever chose not to log addresses does not find
// them in an upstream's reply either.
#pragma once
#include <string>
#include <string_view>

#include "mailonce/observe/log.h"

namespace mailonce::observe {

class AddressMask {
 public:
  // Without a secret, hashes are keyed by a random one of this process, so that they can not be guessed from
  // a list of addresses; they then compare only within one run.
  AddressMask(Addresses mode, std::string secret);

  // One address: "bob@example.org", "*@example.org" or "#dGhpcyBpcyBhIGh@"-like 16 characters; "<>" for the
  // null one.
  std::string address(std::string_view address) const;
  // `text` with every address in it replaced by address().
  std::string text(std::string_view text) const;
  bool leaves_text_alone() const noexcept { return mode_ == Addresses::full; }

 private:
  Addresses mode_;
  std::string secret_;
};

}  // namespace mailonce::observe
