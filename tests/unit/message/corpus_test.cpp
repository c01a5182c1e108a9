// The defaults held against mails built twice by real libraries.
#include "corpus.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

#include "mailonce/message/identity.h"

namespace mailonce::message::test {
namespace {

// What a window would compare: a record belongs to a fingerprint and a recipient.
bool same(const CorpusPair& pair) {
  const auto a = identify(corpus_message(pair.file1), "", {});
  const auto b = identify(corpus_message(pair.file2), "", {});
  return a && b && a->fingerprint == b->fingerprint &&
         corpus_recipients(pair.file1) == corpus_recipients(pair.file2);
}

std::string described(const CorpusPair& pair) {
  return pair.file1 + " " + pair.file2 + ": " + pair.difference;
}

TEST(Corpus, AMailBuiltTwiceIsADuplicate) {
  const auto pairs = corpus_pairs("duplicate");
  for (const auto& pair : pairs) EXPECT_TRUE(same(pair)) << described(pair);
  EXPECT_GT(pairs.size(), 100U);
}

TEST(Corpus, AnotherMailIsNeverADuplicate) {
  const auto pairs = corpus_pairs("distinct");
  for (const auto& pair : pairs) EXPECT_FALSE(same(pair)) << described(pair);
  EXPECT_GT(pairs.size(), 300U);
}

// docs/canonical-form.md says this of the defaults: change both together.
TEST(Corpus, DebatablePairsComeOutAsTheManualSays) {
  const std::set<std::string> duplicates = {"app-refid.b",         "ctl.near-mailgun",  "ctl.near-pmtag",
                                            "ctl.near-ses",        "hdr.near-auto",     "hdr.near-campaign",
                                            "hdr.near-order",      "hdr.near-unsub",    "hdr.near-xorder",
                                            "plain.near-mailfrom", "plain.near-trailnl"};
  const auto pairs = corpus_pairs("debatable");
  for (const auto& pair : pairs) {
    const auto begin = pair.file2.find('/') + 1;
    const auto name = pair.file2.substr(begin, pair.file2.size() - begin - std::string_view(".eml").size());
    EXPECT_EQ(same(pair), duplicates.contains(name)) << described(pair);
  }
  EXPECT_GT(pairs.size(), 150U);
}

}  // namespace
}  // namespace mailonce::message::test
