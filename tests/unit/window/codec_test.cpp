#include "mailonce/window/codec.h"

#include <gtest/gtest.h>

namespace mailonce::window {
namespace {

const std::string hostile_id("<a b: 7:x\0\r\n\"}>", 16);

// What is not known to be sent nor known not to be: doubt, declared.
const Record unknown = [] {
  Record record;
  record.state = State::sending;
  record.unreadable = true;
  return record;
}();

std::string sent_text() {
  Particulars particulars;
  particulars.content = "Zm9v";
  particulars.upstream = "ses eu: 1";
  particulars.reply_code = 250;
  particulars.reply_text = "2.0.0 Ok\nid 12:34";
  return "1S0 0 1700000000123 owner_- 16:" + hostile_id + encode_rest(particulars);
}

TEST(RecordText, KeepsEveryFieldOctetForOctet) {
  const auto record = decode(sent_text());
  EXPECT_FALSE(record.unreadable);
  EXPECT_EQ(record.state, State::sent);
  EXPECT_FALSE(record.doubtful);
  EXPECT_EQ(record.deadline, TimePoint{});
  EXPECT_EQ(record.at, TimePoint(milliseconds(1700000000123)));
  EXPECT_EQ(record.owner, "owner_-");
  EXPECT_EQ(record.message_id, hostile_id);
  EXPECT_EQ(record.content, "Zm9v");
  EXPECT_EQ(record.upstream, "ses eu: 1");
  EXPECT_EQ(record.reply, (smtp::Reply{250, "2.0.0 Ok\nid 12:34"}));
}

TEST(RecordText, CutAnywhereOrContinuedIsUnreadable) {
  const auto text = sent_text();
  for (std::size_t size = 0; size < text.size(); ++size)
    EXPECT_EQ(decode(text.substr(0, size)), unknown) << size;
  EXPECT_EQ(decode(text + "x"), unknown);
}

TEST(RecordText, OfAnotherVersionOrWithNonsenseIsUnreadable) {
  for (const auto* text :
       {"2c0 1 1 me 0:0:0:0 0:", "1x0 1 1 me 0:0:0:0 0:", "1c2 1 1 me 0:0:0:0 0:", "1c0 -1 1 me 0:0:0:0 0:",
        "1c0 1 1 me -1:0:0:0 0:", "1c0 -0 1 me 0:0:0:0 0:", "1c0 1111111111111111 1 me 0:0:0:0 0:",
        "1c0 1 1 m\te 0:0:0:0 0:", "1S0 0 1 me 0:0:0:550 0:", "1S0 0 1 me 0:0:0:0 0:",
        // Not 250, which it is in 32 bits.
        "1S0 0 1 me 0:0:0:4294967546 0:", "1S0 0 1 me 0:0:0:0250 0:", "1c0 1 1 me 0:0:0:1000 0:",
        "1c0 1 1 me 99999999999999999999:0:0:0 0:", "1c0 1 1 me 9:0:0:0 0:"}) {
    EXPECT_EQ(decode(text), unknown) << text;
  }
  EXPECT_FALSE(decode("1c0 1 1 me 0:0:0:0 0:").unreadable);
}

}  // namespace
}  // namespace mailonce::window
