#include "mailonce/message/multipart.h"

#include <gtest/gtest.h>

#include <string>

namespace mailonce::message {
namespace {

TEST(Multipart, TheLineEndBeforeADelimiterBelongsToIt) {
  const auto split =
      split_multipart("pre\r\n--b\r\none\r\n\r\n--b \t\r\n\r\ntwo\r\n--b--\r\npost\r\n", "b", 10);
  ASSERT_TRUE(split);
  ASSERT_EQ(split->parts.size(), 2U);
  EXPECT_EQ(split->parts[0], "one\r\n");
  EXPECT_EQ(split->parts[1], "\r\ntwo");
  EXPECT_EQ(split->preamble, "pre");
  EXPECT_EQ(split->epilogue, "post\r\n");
  EXPECT_TRUE(split->complete);
}

TEST(Multipart, EmptyPartsAreParts) {
  const auto split = split_multipart("--b\r\n--b\r\n\r\n--b--", "b", 10);
  ASSERT_TRUE(split);
  ASSERT_EQ(split->parts.size(), 2U);
  EXPECT_EQ(split->parts[0], "");
  EXPECT_EQ(split->parts[1], "");
}

TEST(Multipart, ALongerBoundaryIsNoDelimiterOfAShorterOne) {
  const auto split = split_multipart("--b\r\n--bb\r\nx\r\n--bb--\r\n--b--\r\n", "b", 10);
  ASSERT_TRUE(split);
  ASSERT_EQ(split->parts.size(), 1U);
  EXPECT_EQ(split->parts[0], "--bb\r\nx\r\n--bb--");
}

TEST(Multipart, WithoutItsClosingDelimiterItIsIncomplete) {
  const auto split = split_multipart("--b\r\none\r\n", "b", 10);
  ASSERT_TRUE(split);
  EXPECT_FALSE(split->complete);
  EXPECT_EQ(split->parts[0], "one\r\n");
}

TEST(Multipart, WhatProgramsSplitDifferentlyIsRefused) {
  EXPECT_FALSE(split_multipart("no delimiter\r\n", "b", 10));
  EXPECT_FALSE(split_multipart("", "b", 10));
  EXPECT_FALSE(split_multipart("--b--\r\n", "b", 10));
  EXPECT_FALSE(split_multipart("--bx\r\n--b\r\none\r\n--b--\r\n", "b", 10)) << "in the preamble";
  EXPECT_FALSE(split_multipart("--b\r\none\r\n--b--\r\n--b\r\ntwo\r\n", "b", 10)) << "after the end";
  EXPECT_FALSE(split_multipart("--b\r\none\r\n--b--\r\n--b--x\r\n", "b", 10)) << "in the epilogue";
  EXPECT_FALSE(split_multipart("--b\r\n--b\r\n--b\r\n--b--\r\n", "b", 2)) << "too many";
}

}  // namespace
}  // namespace mailonce::message
