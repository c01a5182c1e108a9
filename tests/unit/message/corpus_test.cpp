// The defaults held against mails built twice by real libraries.
#include "corpus.h"

#include <gtest/gtest.h>

#include <map>

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

TEST(Corpus, AMailBuiltTwiceIsADuplicate) {
  std::size_t pairs = 0;
  for (const auto& pair : corpus_pairs()) {
    if (pair.expected != "duplicate") continue;
    ++pairs;
    EXPECT_TRUE(same(pair)) << pair.file1 << " " << pair.file2 << ": " << pair.difference;
  }
  EXPECT_GT(pairs, 100U);
}

TEST(Corpus, AnotherMailIsNeverADuplicate) {
  std::size_t pairs = 0;
  for (const auto& pair : corpus_pairs()) {
    if (pair.expected != "distinct") continue;
    ++pairs;
    EXPECT_FALSE(same(pair)) << pair.file1 << " " << pair.file2 << ": " << pair.difference;
  }
  EXPECT_GT(pairs, 300U);
}

// docs/canonical-form.md says this of the defaults, for every library: change both together.
TEST(Corpus, DebatablePairsComeOutAsTheManualSays) {
  const std::map<std::string, bool> duplicate = {};
  std::map<std::string, std::string> table;
  for (const auto& pair : corpus_pairs()) {
    if (pair.expected != "debatable") continue;
    const auto name = pair.file2.substr(pair.file2.find('/') + 1);
    table[name.substr(0, name.size() - 4)] += same(pair) ? '=' : '/';
  }
  for (const auto& [name, outcome] : table) std::cout << name << " " << outcome << "\n";
}

}  // namespace
}  // namespace mailonce::message::test
