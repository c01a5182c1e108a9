// Records as text: what is written reads back, and what reads is what its own text says. Anything else is
// unreadable, which is doubt: never a message that was sent.
#include <string>

#include "fuzz.h"
#include "mailonce/window/codec.h"

namespace {

using namespace mailonce::window;

using mailonce::fuzz::check;

std::string encode(const Record& record) {
  Particulars particulars;
  particulars.content = record.content;
  particulars.upstream = record.upstream;
  particulars.reply_code = record.reply.code;
  particulars.reply_text = record.reply.text;
  const auto time = [](mailonce::TimePoint at) { return std::to_string(at.time_since_epoch().count()); };
  return std::string("1") + static_cast<char>(record.state) + (record.doubtful ? "1 " : "0 ") +
         time(record.deadline) + " " + time(record.at) + " " + record.owner + " " +
         std::to_string(record.message_id.size()) + ":" + record.message_id + encode_rest(particulars);
}

void reads_back(std::string_view text) {
  const auto record = decode(text);
  if (record.unreadable) {
    Record unknown;
    unknown.state = State::sending;
    unknown.unreadable = true;
    check(record == unknown);
    return;
  }
  check(record.state != State::absent && record.reply.code >= 0 && record.reply.code <= 999);
  check(record.state != State::sent || record.reply.completed());
  const auto again = encode(record);
  check(decode(again) == record);
  // Only zeros in front of a number are not said again.
  check(again.size() < text.size() || again == text);
}

// `text` cut into the fields of a record that was sent.
void what_is_written_reads_back(std::string_view text) {
  Record record;
  record.state = State::sent;
  record.doubtful = text.size() % 2 == 1;
  record.at = mailonce::TimePoint(mailonce::milliseconds(1'700'000'000'000 + static_cast<int>(text.size())));
  record.owner = "owner_-";
  record.message_id = mailonce::fuzz::take_line(text);
  record.content = mailonce::fuzz::take_line(text);
  record.upstream = mailonce::fuzz::take_line(text);
  record.reply = {250, std::string(text)};
  const auto written = encode(record);
  check(decode(written) == record);
  check(decode(std::string_view(written).substr(0, written.size() - 1)).unreadable);
  check(decode(written + "0").unreadable);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = mailonce::fuzz::text(data, size);
  reads_back(text);
  what_is_written_reads_back(text);
  return 0;
}
