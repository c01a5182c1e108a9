#include "resend.h"

#include <algorithm>

namespace mailonce::relay {
namespace {

// RFC 5322 §3.6.4 within one line (§2.1.1): what was recorded may come from another relay's version or hand.
bool fits_a_header_field(std::string_view id) {
  return !id.empty() && id.size() <= 900 && id.front() == '<' && id.back() == '>' &&
         std::all_of(id.begin(), id.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

}  // namespace

std::vector<std::string_view> with_message_id(std::string_view message, const message::Identity& identity,
                                              const std::string& first_id) {
  if (identity.dkim_signed || !identity.message_id_value || !fits_a_header_field(first_id)) return {message};
  const auto place = *identity.message_id_value;
  return {message.substr(0, place.offset), first_id, message.substr(place.offset + place.length)};
}

void describe_first(observe::Decision& line, const window::RecipientVerdict& verdict, TimePoint now) {
  line.first_message_id = verdict.record.message_id;
  line.upstream = verdict.record.upstream;
  line.reply = verdict.record.reply;
  if (verdict.record.at != TimePoint{}) line.first_age = now - verdict.record.at;
}

void describe_claim(observe::Decision& line, const Claiming& claiming) {
  switch (claiming.source()) {
    case window::Source::store:
      line.source = "store";
      break;
    case window::Source::local:
      line.source = "local";
      break;
    case window::Source::unasked:
      line.source = "unasked";
      break;
  }
  const auto& verdicts = claiming.verdicts();
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    line.content_differs = line.content_differs || claiming.content_differs(i);
    if (verdicts[i].verdict != window::Verdict::mine || !verdicts[i].after_doubt) continue;
    line.possible_duplicate = true;
    line.reason = "after_doubt";
    line.first_message_id = verdicts[i].record.message_id;
  }
}

smtp::Reply suppressed_reply() {
  return {250, "2.0.0 Ok: sent before, the outcome of that is not known"};
}

}  // namespace mailonce::relay
