// The mails of tests/corpus and the pairs of its manifest (tests/corpus/README.md).
#pragma once
#include <set>
#include <string>
#include <vector>

namespace mailonce::message::test {

struct CorpusPair {
  std::string library;
  std::string shape;
  std::string file1;
  std::string file2;
  std::string expected;  // "duplicate", "distinct", "debatable"
  std::string difference;
};

const std::vector<CorpusPair>& corpus_pairs();
std::vector<CorpusPair> corpus_pairs(const std::string& expected);
// The rows of a file of tests/corpus in tab-separated values, without that of the column names.
std::vector<std::vector<std::string>> corpus_table(const std::string& file);
const std::set<std::string>& corpus_files();
std::string corpus_message(const std::string& file);
std::set<std::string> corpus_recipients(const std::string& file);  // of the envelope beside it

}  // namespace mailonce::message::test
