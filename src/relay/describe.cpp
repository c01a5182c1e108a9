#include "describe.h"

namespace mailonce::relay {

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

}  // namespace mailonce::relay
