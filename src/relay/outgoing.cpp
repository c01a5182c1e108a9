#include "outgoing.h"

#include <algorithm>

#include "mailonce/base/encoding.h"
#include "mailonce/message/header_fields.h"

namespace mailonce::relay {
namespace {

struct Edit {
  std::size_t offset;
  std::size_t length;
  std::string_view replacement;
};

// RFC 5322 §3.6.4 within one line (§2.1.1): what was recorded may come from another relay's version or hand.
bool fits_a_header_field(std::string_view id) {
  return !id.empty() && id.size() <= 900 && id.front() == '<' && id.back() == '>' &&
         std::all_of(id.begin(), id.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

void leave_out(std::string_view message, const std::vector<std::string>& names, std::vector<Edit>& edits) {
  message::HeaderScanner scanner(message);
  message::HeaderField field;
  while (scanner.next(field)) {
    const auto is = [&field](const std::string& name) { return equals_ignoring_case(name, field.name); };
    if (std::none_of(names.begin(), names.end(), is)) continue;
    edits.push_back({static_cast<std::size_t>(field.raw.data() - message.data()), field.raw.size(), {}});
  }
}

bool is_replaced(const message::HeaderFacts& facts, std::string_view first_id) {
  return !facts.dkim_signed && facts.message_id_value && fits_a_header_field(first_id);
}

}  // namespace

std::string_view outgoing_message_id(const message::HeaderFacts& facts, std::string_view first_id) {
  return is_replaced(facts, first_id) ? first_id : std::string_view(facts.message_id);
}

std::vector<std::string_view> outgoing(std::string_view message, const message::HeaderFacts& facts,
                                       std::string_view first_id, const Options& options) {
  std::vector<Edit> edits;
  if (is_replaced(facts, first_id)) {
    edits.push_back({facts.message_id_value->offset, facts.message_id_value->length, first_id});
  }
  if (options.strip_key_header) leave_out(message, options.policy.identity.key_headers, edits);
  std::sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) { return a.offset < b.offset; });

  std::vector<std::string_view> pieces;
  std::size_t from = 0;
  for (const auto& edit : edits) {
    if (edit.offset < from) continue;  // inside a field that is left out
    pieces.push_back(message.substr(from, edit.offset - from));
    if (!edit.replacement.empty()) pieces.push_back(edit.replacement);
    from = edit.offset + edit.length;
  }
  pieces.push_back(message.substr(from));
  return pieces;
}

}  // namespace mailonce::relay
