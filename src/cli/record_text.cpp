#include "record_text.h"

#include <algorithm>
#include <ctime>

#include "json.h"
#include "mailonce/config/values.h"
#include "record_filter.h"

namespace mailonce::cli {
namespace {

using window::Record;
using window::State;

std::string_view state_of(const Record& record, TimePoint now) {
  if (record.unreadable) return "unreadable";
  if (in_doubt(record, now)) return "doubt";
  switch (record.state) {
    case State::claimed:
      return "claimed";
    case State::sending:
      return "sending";
    case State::sent:
      return "sent";
    case State::absent:
      break;
  }
  return "absent";
}

// 2026-03-01T12:00:00Z
std::string utc(TimePoint time) {
  const auto seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[24];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string whole_seconds(milliseconds time) {
  return config::format_duration(
      std::chrono::duration_cast<std::chrono::seconds>(std::max(time, milliseconds(0))));
}

std::string reply_of(const Record& record) {
  return std::to_string(record.reply.code) + " " + record.reply.text;
}

}  // namespace

std::string record_line(const window::StoredRecord& stored, TimePoint now) {
  const auto& record = stored.record;
  std::string line = utc(record.at);
  const auto field = [&](std::string_view name, std::string_view value) {
    line.append(" ").append(name).append("=");
    observe::append_word(line, value);
  };
  line.append(" ").append(state_of(record, now));
  field("fingerprint", stored.fingerprint.base64url());
  field("recipient", stored.recipient);
  field("message_id", record.message_id);
  if (record.state == State::sent) {
    field("upstream", record.upstream);
    field("reply", reply_of(record));
  }
  field("ends_in", whole_seconds(stored.left));
  return line;
}

std::string record_page(const window::StoredRecord& stored, TimePoint now) {
  const auto& record = stored.record;
  std::string page;
  const auto fact = [&](std::string_view name, std::string_view value) {
    page.append(name).append(std::string(14 - name.size(), ' '));
    observe::append_word(page, value);
    page += '\n';
  };
  fact("state", state_of(record, now));
  fact("since", utc(record.at));
  fact("ends in", whole_seconds(stored.left));
  fact("fingerprint", stored.fingerprint.base64url());
  fact("recipient", stored.recipient);
  fact("message-id", record.message_id);
  fact("content", record.content);
  if (record.state == State::sent) {
    fact("upstream", record.upstream);
    fact("reply", reply_of(record));
  } else {
    fact("owner", record.owner);
    fact("lease until", record.deadline == TimePoint{} ? "given up" : utc(record.deadline));
    fact("after doubt", record.doubtful ? "yes" : "no");
  }
  return page;
}

std::string record_json(const window::StoredRecord& stored, TimePoint now, std::string_view done) {
  const auto& record = stored.record;
  std::string out;
  Json json(out);
  json.open('{').key("state").text(state_of(record, now)).key("since").text(utc(record.at));
  json.key("ends_in_ms").raw(std::to_string(stored.left.count()));
  json.key("fingerprint").text(stored.fingerprint.base64url()).key("recipient").text(stored.recipient);
  json.key("message_id").text(record.message_id).key("content").text(record.content);
  if (record.state == State::sent)
    json.key("upstream").text(record.upstream).key("reply").text(reply_of(record));
  if (record.doubtful) json.key("after_doubt").flag(true);
  if (!done.empty()) json.key("done").text(done);
  json.close('}');
  return out;
}

}  // namespace mailonce::cli
