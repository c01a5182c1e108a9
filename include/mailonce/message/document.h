// Documents that are made anew for each build: the same pages or sheets, other times and made-up identifiers.
// A document is read into items that hold everything it shows, without those (docs/canonical-form.md). What
// can not be read with certainty is no document here: it compares by its octets. Pure; any thread.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mailonce/base/digest.h"

namespace mailonce::message {

// A piece of a document: "page 3 content", "word/document.xml".
struct DocumentItem {
  std::string name;
  Digest digest;
};

// A value that does not count, for people: "CreationDate", "D:20261202162213Z".
struct DocumentTime {
  std::string name;
  std::string value;
};

struct Document {
  std::string_view kind;  // "pdf", "zip"
  std::vector<DocumentItem> items;
  std::vector<DocumentTime> times;  // a sample of what was left out
};

// Beyond these a document compares by its octets: time stays linear and memory bounded for any input.
struct DocumentLimits {
  static constexpr std::size_t documents = 20;                  // tried in one message
  static constexpr std::size_t octets = 32U << 20;  // of the document itself
  static constexpr std::size_t inflated_octets = 128U
                                                 << 20;  // of all entries of a ZIP file, all fonts of a PDF
  static constexpr std::size_t entries = 10000;          // of a ZIP file
  static constexpr std::size_t text_octets = 1U << 20;   // of a part times are removed from
  static constexpr std::size_t structure_octets =
      2U << 20;  // of a PDF beside its streams, and of its object streams
  static constexpr std::size_t cross_reference_octets = 1U << 20;  // of a PDF, inflated
  static constexpr std::size_t shown_times = 20;                   // kept in Document::times
};

// Whether octets that begin so may be a document: by its first octets, whatever it is called.
bool may_be_document(std::string_view beginning) noexcept;

// Nothing: compare by octets. Linear in the document and what it inflates to.
std::optional<Document> read_document(std::string_view octets);

}  // namespace mailonce::message
