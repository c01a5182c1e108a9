// Receives the canonical form of a message, item by item, in reading order (DESIGN.md §5). One writer
// produces it (canonical_form.h); HashingSink hashes it, the description shows it. Views are valid during the
// call only.
#pragma once
#include <cstddef>
#include <string_view>

#include "mailonce/base/digest.h"

namespace mailonce::message {

// How octets of the message became the octets of an item. What was not decoded can never equal what was: a
// decoder that guesses would make two different messages one.
enum class Reading : char {
  decoded = 'd',   // encodings undone, UTF-8
  text = 't',      // a text leaf: decoded, UTF-8, line ends LF, without trailing blank lines
  octets = 'o',    // a leaf that is no text, its transfer encoding undone
  document = 'p',  // a leaf that is a document, read into its items (document.h)
  raw = 'r'        // as it stands in the message
};

// A leaf of the tree: what a client shows of it beside its content.
struct Leaf {
  std::string_view type;         // "text/html", lower case
  std::string_view disposition;  // lower case; empty when the field is absent
  std::string_view file_name;    // UTF-8; empty when there is none
  std::size_t content_id = 0;    // its number in order of appearance; 0 when it has none
  Reading reading = Reading::octets;
  std::string_view
      label;  // with `raw`: what could not be undone, e.g. "charset x-unknown"; with `document`: its kind
};

class CanonicalSink {
 public:
  virtual ~CanonicalSink() = default;

  virtual void header(std::string_view name, std::string_view value, Reading reading) = 0;
  virtual void open_message(const Leaf& leaf) = 0;  // message/rfc822: its header and tree follow
  virtual void open_multipart(std::string_view subtype, std::size_t content_id) = 0;
  virtual void close(
      bool complete) = 0;  // of message or multipart; incomplete: the last delimiter was missing
  virtual void open_leaf(const Leaf& leaf) = 0;
  virtual void content(std::string_view octets) = 0;  // any number of times; how it is split means nothing
  // In place of content, of a leaf that is read as a document: "page 3 content".
  virtual void document_item(std::string_view name, const Digest& digest) = 0;
  virtual void close_leaf() = 0;
  // What is left out, and why: only for people, and only told to a sink that wants it.
  virtual bool wants_dropped() const { return false; }
  virtual void dropped(std::string_view /*what*/, std::string_view /*value*/, std::string_view /*why*/) {}
};

}  // namespace mailonce::message
