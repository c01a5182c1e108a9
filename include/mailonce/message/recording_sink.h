// Keeps a canonical form for people: what description.h and comparison.h are made from.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "mailonce/base/digest.h"
#include "mailonce/message/canonical_sink.h"
#include "mailonce/message/description.h"

namespace mailonce::message {

struct RecordedItem {
  DescribedItem shown;
  std::string key;    // the same for what corresponds in another message: "2 file name", "header Received 3"
  std::string exact;  // the octets that count; of content that is no text, its digest
  bool is_text = false;
  bool is_digest = false;  // shown as one: of content that is no text
};

class RecordingSink final : public CanonicalSink {
 public:
  std::vector<RecordedItem> take() { return std::move(items_); }

  void header(std::string_view name, std::string_view value, Reading reading) override;
  void open_message(const Leaf& leaf) override;
  void open_multipart(std::string_view subtype, std::size_t content_id) override;
  void close(bool complete) override;
  void open_leaf(const Leaf& leaf) override;
  void content(std::string_view octets) override;
  void document_item(std::string_view name, const Digest& digest) override;
  void close_leaf() override;
  bool wants_dropped() const override { return true; }
  void dropped(std::string_view what, std::string_view value, std::string_view why) override;

 private:
  // A place by its number, which pairs it with the same place of another message, and by its name.
  struct Place {
    std::string key;
    std::string name;
  };
  // Parts are numbered as in IMAP (RFC 3501 §6.4.5): the multipart at the root of a message has no number of
  // its own.
  struct Level {
    std::string prefix;       // of the numbers of its children
    std::string name_prefix;  // of their names: "attached message 1, "
    Place place;              // for what belongs to the level itself
    std::size_t children = 0;
    bool message_root = false;
  };

  std::string next_number();
  std::string name_of(const Leaf& leaf);
  RecordedItem& add(const Place& place, std::string_view what, std::string_view value,
                    std::string_view why = {});
  void add_leaf(const Place& place, const Leaf& leaf);
  void add_content_id(const Place& place, std::size_t number);

  std::vector<RecordedItem> items_;
  std::vector<Level> levels_ = {{"", "", {"header", "header"}, 0, true}};
  std::map<std::string, std::size_t> occurrences_;
  std::map<std::string, std::size_t> names_;  // how often a kind of part was met
  Place leaf_place_;
  std::string leaf_why_;
  std::string text_;
  bool leaf_is_text_ = false;
  bool leaf_is_document_ = false;
  bool in_leaf_ = false;
  std::size_t octets_ = 0;
  Hasher hasher_;
};

// UTF-8 for a terminal: control characters other than LF and HT, and octets that are no UTF-8, as \xNN; the
// number of a Content-ID as [content-id N].
std::string printable(std::string_view text);

}  // namespace mailonce::message
