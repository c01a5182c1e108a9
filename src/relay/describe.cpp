#include "describe.h"

namespace mailonce::relay {
namespace {

const char* name_of(window::Source source) {
  switch (source) {
    case window::Source::store:
      return "store";
    case window::Source::local:
      return "local";
    case window::Source::unasked:
      break;
  }
  return "unasked";
}

}  // namespace

void describe_finding(observe::Decision& line, const Finding& finding) {
  const auto& record = finding.record.record;
  line.source = name_of(finding.source);
  line.content_differs = finding.content_differs;
  line.would_drop = finding.would_drop;
  line.first_message_id = record.message_id;
  if (record.at != TimePoint{}) line.first_age = finding.now - record.at;
}

}  // namespace mailonce::relay
