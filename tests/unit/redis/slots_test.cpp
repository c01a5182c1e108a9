// Slots, the map of them, and redirections; nodes may answer anything.
#include "mailonce/redis/slots.h"

#include <gtest/gtest.h>
#include <hiredis/hiredis.h>

#include "mailonce/redis/error.h"

namespace mailonce::redis {
namespace {

const Address asked{"10.0.0.9", 7000};

Reply resp(const std::string& text) {
  const std::unique_ptr<redisReader, decltype(&redisReaderFree)> reader(redisReaderCreate(), redisReaderFree);
  void* tree = nullptr;
  redisReaderFeed(reader.get(), text.data(), text.size());
  redisReaderGetReply(reader.get(), &tree);
  if (tree == nullptr) throw std::invalid_argument(text);
  return Reply(tree);
}

TEST(Crc16, IsThatOfTheSpecification) {
  EXPECT_EQ(crc16("123456789"), 0x31C3);
  EXPECT_EQ(crc16(""), 0);
}

// As CLUSTER KEYSLOT answers.
TEST(KeySlot, HashesTheFirstPairOfBracesOrTheWholeKey) {
  EXPECT_EQ(key_slot("foo"), 12182);
  EXPECT_EQ(key_slot("{user1000}.following"), key_slot("{user1000}.followers"));
  EXPECT_EQ(key_slot("{user1000}.following"), key_slot("user1000"));
  EXPECT_EQ(key_slot("foo{}{bar}"), crc16("foo{}{bar}") % slot_count);
  EXPECT_EQ(key_slot("foo{{bar}}zap"), crc16("{bar") % slot_count);
  EXPECT_EQ(key_slot("foo{bar}{zap}"), crc16("bar") % slot_count);
  EXPECT_EQ(key_slot("foo{bar"), crc16("foo{bar") % slot_count);
  EXPECT_EQ(key_slot(""), 0);
}

TEST(SlotMap, KnowsMastersAndReplicas) {
  const auto reply = resp(
      "*2\r\n"
      "*4\r\n:0\r\n:100\r\n*2\r\n$8\r\n10.0.0.1\r\n:7001\r\n*2\r\n$8\r\n10.0.0.2\r\n:7002\r\n"
      "*3\r\n:16383\r\n:16383\r\n*4\r\n$0\r\n\r\n:7003\r\n$2\r\nid\r\n*0\r\n");
  auto map = SlotMap::parse(reply.value(), asked);
  ASSERT_TRUE(map);
  ASSERT_NE(map->owner(0), nullptr);
  EXPECT_EQ(*map->owner(0), (Address{"10.0.0.1", 7001}));
  EXPECT_EQ(*map->owner(100), (Address{"10.0.0.1", 7001}));
  EXPECT_EQ(map->owner(101), nullptr);
  EXPECT_EQ(*map->owner(16383), (Address{"10.0.0.9", 7003})) << "no host: the node that was asked";
  EXPECT_EQ(map->masters().size(), 2U);
  EXPECT_EQ(map->replicas(), (std::vector<Address>{{"10.0.0.2", 7002}}));
  map->assign(16383, {"10.0.0.2", 7002});
  EXPECT_EQ(*map->owner(16383), (Address{"10.0.0.2", 7002}));
  EXPECT_EQ(map->masters(), (std::vector<Address>{{"10.0.0.1", 7001}, {"10.0.0.2", 7002}}));
}

TEST(SlotMap, ANodeWithoutAKnownAddressServesNothing) {
  for (const auto* node : {"*2\r\n$1\r\n?\r\n:7001\r\n", "*2\r\n$8\r\n10.0.0.1\r\n:0\r\n"}) {
    const auto reply = resp(std::string("*1\r\n*3\r\n:0\r\n:100\r\n") + node);
    const auto map = SlotMap::parse(reply.value(), asked);
    ASSERT_TRUE(map);
    EXPECT_EQ(map->owner(50), nullptr);
    EXPECT_TRUE(map->empty());
  }
}

TEST(SlotMap, IsNotMadeOfAnythingElse) {
  for (const auto* hostile : {
           "+OK\r\n",
           ":5\r\n",
           "$-1\r\n",
           "*1\r\n:5\r\n",
           "*1\r\n*0\r\n",
           "*1\r\n*2\r\n:0\r\n:100\r\n",
           "*1\r\n*3\r\n:0\r\n:100\r\n*0\r\n",
           "*1\r\n*3\r\n:0\r\n:100\r\n*1\r\n$1\r\nx\r\n",
           "*1\r\n*3\r\n:0\r\n:100\r\n*2\r\n:1\r\n:7001\r\n",
           "*1\r\n*3\r\n:0\r\n:100\r\n*2\r\n$1\r\nx\r\n$4\r\n7001\r\n",
           "*1\r\n*3\r\n:0\r\n:100\r\n*2\r\n$1\r\nx\r\n:65536\r\n",
           "*1\r\n*3\r\n:0\r\n:100\r\n*2\r\n$1\r\nx\r\n:-1\r\n",
           "*1\r\n*3\r\n:-1\r\n:100\r\n*2\r\n$1\r\nx\r\n:7001\r\n",
           "*1\r\n*3\r\n:100\r\n:99\r\n*2\r\n$1\r\nx\r\n:7001\r\n",
           "*1\r\n*3\r\n:0\r\n:16384\r\n*2\r\n$1\r\nx\r\n:7001\r\n",
           "*1\r\n*3\r\n$1\r\n0\r\n:100\r\n*2\r\n$1\r\nx\r\n:7001\r\n",
       }) {
    const auto reply = resp(hostile);
    const auto map = SlotMap::parse(reply.value(), asked);
    ASSERT_FALSE(map) << hostile;
    EXPECT_EQ(map.error(), Errc::malformed_slots) << hostile;
  }
}

TEST(SlotMap, OfAServerThatIsNoNodeSaysSo) {
  const auto reply = resp("-ERR This instance has cluster support disabled\r\n");
  EXPECT_EQ(SlotMap::parse(reply.value(), asked).error(), Errc::not_clustered);
}

TEST(Redirection, SaysWhereTo) {
  const auto moved = Redirection::parse("MOVED 3999 127.0.0.1:6381", asked);
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->kind, Redirection::Kind::moved);
  EXPECT_EQ(moved->to, (Address{"127.0.0.1", 6381}));
  const auto ask = Redirection::parse("ASK 16383 ::1:6381", asked);
  ASSERT_TRUE(ask);
  EXPECT_EQ(ask->kind, Redirection::Kind::ask);
  EXPECT_EQ(ask->to, (Address{"::1", 6381}));
  const auto here = Redirection::parse("MOVED 0 :6381", asked);
  ASSERT_TRUE(here);
  EXPECT_EQ(here->to, (Address{"10.0.0.9", 6381}));
}

TEST(Redirection, TellsWhatPassesFromWhatStays) {
  const std::pair<const char*, Redirection::Kind> rows[] = {
      {"TRYAGAIN Multiple keys request during rehashing of slot", Redirection::Kind::try_again},
      {"CLUSTERDOWN The cluster is down", Redirection::Kind::down},
      {"CLUSTERDOWN Hash slot not served", Redirection::Kind::down},
      {"MASTERDOWN Link with MASTER is down", Redirection::Kind::down},
      {"NOSCRIPT No matching script", Redirection::Kind::none},
      {"MOVEDX 1 a:1", Redirection::Kind::none},
      {"", Redirection::Kind::none},
  };
  for (const auto& [text, kind] : rows) {
    const auto found = Redirection::parse(text, asked);
    ASSERT_TRUE(found) << text;
    EXPECT_EQ(found->kind, kind) << text;
  }
}

TEST(Redirection, ToNowhereIsAnError) {
  for (const auto* hostile :
       {"MOVED", "MOVED ", "MOVED 1", "MOVED 1 ", "MOVED x 127.0.0.1:1", "MOVED -1 a:1", "MOVED 16384 a:1",
        "MOVED 1 a", "MOVED 1 a:", "MOVED 1 a:0", "MOVED 1 a:65536", "MOVED 1 a:x", "MOVED 1 ?:6379",
        "MOVED 1 a b:6379", "ASK 1:2 3", "ASK 1", "MOVED:1 2"}) {
    const auto found = Redirection::parse(hostile, asked);
    const bool error = std::string_view(hostile) != "MOVED:1 2";
    EXPECT_EQ(found.has_error(), error) << hostile;
  }
}

}  // namespace
}  // namespace mailonce::redis
