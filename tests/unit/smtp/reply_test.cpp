#include "mailonce/smtp/reply.h"

#include <gtest/gtest.h>

namespace mailonce::smtp {
namespace {

TEST(Reply, EachLineCarriesTheCodeAndTheLastASpace) {
  EXPECT_EQ((Reply{250, "Ok"}.wire()), "250 Ok\r\n");
  EXPECT_EQ((Reply{250, "host\nPIPELINING\nSIZE 1"}.wire()), "250-host\r\n250-PIPELINING\r\n250 SIZE 1\r\n");
  EXPECT_EQ((Reply{250, ""}.wire()), "250 \r\n");
  EXPECT_EQ((Reply{550, "\n\nend\n"}.wire()), "550-\r\n550-\r\n550-end\r\n550 \r\n");
}

TEST(Reply, ClassesAreThoseOfTheFirstDigit) {
  EXPECT_TRUE((Reply{250, ""}.completed()));
  EXPECT_TRUE((Reply{354, ""}.intermediate()));
  EXPECT_TRUE((Reply{451, ""}.transient()));
  EXPECT_TRUE((Reply{554, ""}.permanent()));
  EXPECT_FALSE((Reply{354, ""}.completed()));
  EXPECT_FALSE((Reply{}.completed()));
}

TEST(Reply, TheSummaryIsOneLine) {
  EXPECT_EQ((Reply{250, "first\nlast"}.summary()), "250 first / last");
  EXPECT_EQ((Reply{250, ""}.summary()), "250");
}

}  // namespace
}  // namespace mailonce::smtp
