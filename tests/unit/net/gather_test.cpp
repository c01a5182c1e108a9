#include "gather.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace mailonce::net {
namespace {

std::string rest(const Gather& from) {
  std::string out;
  from.each([&](std::string_view piece) {
    EXPECT_FALSE(piece.empty());
    out.append(piece);
    return true;
  });
  return out;
}

TEST(Gather, holds_what_was_not_taken_after_any_two_steps) {
  const std::array<std::string_view, 6> pieces{"", "abc", "", "d", "efgh", ""};
  const std::string all = "abcdefgh";
  for (std::size_t first = 0; first <= all.size(); ++first) {
    for (std::size_t second = 0; first + second <= all.size(); ++second) {
      Gather from(pieces);
      from.advance(first);
      from.advance(second);
      EXPECT_EQ(rest(from), all.substr(first + second));
      EXPECT_EQ(from.done(), first + second == all.size());
      EXPECT_EQ(from.front().empty(), from.done());
    }
  }
}

TEST(Gather, of_nothing_is_done_at_once) {
  EXPECT_TRUE(Gather({}).done());
  const std::array<std::string_view, 2> empty{"", ""};
  EXPECT_TRUE(Gather(empty).done());
}

TEST(Gather, stops_when_the_taker_has_enough) {
  const std::array<std::string_view, 3> pieces{"a", "b", "c"};
  int taken = 0;
  Gather(pieces).each([&](std::string_view) { return ++taken < 2; });
  EXPECT_EQ(taken, 2);
}

}  // namespace
}  // namespace mailonce::net
