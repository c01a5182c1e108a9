// Which records of the window an operator means. The store holds digests: what is given is hashed as the
// relay does it, under every scope of the configuration.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "commands.h"
#include "mailonce/relay/options.h"
#include "mailonce/window/store.h"

namespace mailonce::cli {

class RecordFilter {
 public:
  // Nothing, and why on `streams.err`, when the recipient is no address or the fingerprint too short.
  static std::optional<RecordFilter> make(const RecordsWanted& wanted, const relay::Options& options,
                                          Streams streams);

  bool matches(const window::StoredRecord& stored, TimePoint now) const;

 private:
  RecordsWanted wanted_;
  std::string recipient_;                 // its digest
  std::vector<Digest> key_fingerprints_;  // one a scope and strategy
};

// Whether nobody knows if its message was sent.
bool in_doubt(const window::Record& record, TimePoint now);

}  // namespace mailonce::cli
