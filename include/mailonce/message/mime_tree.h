// The structure of a message: which part contains which, and how each is to be read. Views into the message;
// nothing is decoded yet but the fields that say how.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "mailonce/message/content_ids.h"
#include "mailonce/message/header_fields.h"
#include "mailonce/message/transfer_encoding.h"

namespace mailonce::message {

struct Part {
  enum class Kind {
    leaf,
    multipart,
    message,  // message/rfc822: its one child is the root of that message
    raw       // not readable with certainty: its Content-* fields and body count as they stand
  } kind = Kind::leaf;

  std::string type = "text/plain";
  std::string detailed_type;  // with a calendar's method and Content-Location; empty when there is neither
  std::string disposition;
  std::string file_name;
  std::string charset;
  std::string transfer_encoding_name;
  TransferEncoding transfer_encoding = TransferEncoding::identity;
  std::size_t content_id = 0;
  std::string_view body;
  std::vector<Part> children;

  std::string_view raw_reason;              // with `raw`: why
  std::vector<HeaderField> content_fields;  // with `raw`
  std::vector<HeaderField> header;          // of the root of a message
  std::string boundary;                     // of a multipart, and what stands outside its parts
  std::string_view preamble;
  std::string_view epilogue;
  bool complete = true;      // the closing delimiter is there
  bool header_known = true;  // of the root of a message: false when its header is malformed
};

struct MimeTree {
  Part root;
  ContentIds content_ids;
};

// Linear in the message, within CanonicalLimits (canonical_form.h).
MimeTree parse_tree(std::string_view message);

}  // namespace mailonce::message
