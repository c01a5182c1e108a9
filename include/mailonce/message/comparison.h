// What differs between two messages, in the words of a person, and whether the second would be a duplicate of
// the first (DESIGN.md §1 P7). Pure; `mailonce explain A.eml B.eml` prints it.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mailonce/message/identity.h"

namespace mailonce::message {

struct Difference {
  std::string where;     // "Subject", "HTML text, line 12", "attachment 2 report.pdf: page 1 content"
  std::string a;         // how it reads in the first message; empty when it is absent there
  std::string b;         // how it reads in the second
  bool readable = true;  // false: a and b are digests, of use to nobody but machines

  // `Subject: "Order 1001" / "Order 1002"`, with "(absent)" for what is not there;
  // `attachment 2 report.pdf: page 1 content differs`.
  std::string sentence() const;
};

struct Comparison {
  enum class Verdict {
    duplicate,      // equal fingerprints and equal content
    other_content,  // equal fingerprints by key, Message-ID or header, but other content: the conflict policy
                    // decides
    distinct,       // different fingerprints
    no_identity     // at least one of them has none: never a duplicate
  } verdict = Verdict::distinct;
  std::optional<Identity> a;
  std::optional<Identity> b;
  std::vector<Difference> differences;  // in what counts; empty exactly when the contents are equal
  std::vector<Difference> ignored;      // in what does not count: Date, Message-ID, boundaries, …
};

Comparison compare(std::string_view a, std::string_view b, std::string_view scope,
                   const IdentityOptions& options);

}  // namespace mailonce::message
