// The canonical form of a message, version 1 (DESIGN.md §5, docs/canonical-form.md): what a recipient would
// notice, without what transport and libraries make up.
#pragma once
#include <string_view>

#include "mailonce/message/canonical_options.h"
#include "mailonce/message/canonical_sink.h"

namespace mailonce::message {

// Part of every fingerprint; changes when the same message would give another form.
inline constexpr std::string_view canonical_form_version = "1";

// Beyond these, what is inside is taken as bytes: so time stays linear and memory bounded for any input.
struct CanonicalLimits {
  static constexpr std::size_t depth = 20;             // multiparts and messages inside each other
  static constexpr std::size_t parts = 4096;           // in the whole message
  static constexpr std::size_t header_fields = 10000;  // of one header
};

// Writes the form of `message` to `sink`. Never fails: what is malformed is written as raw bytes.
void write_canonical_form(std::string_view message, const CanonicalOptions& options, CanonicalSink& sink);

}  // namespace mailonce::message
