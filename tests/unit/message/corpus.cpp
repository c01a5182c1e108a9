#include "corpus.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace mailonce::message::test {
namespace {

std::string read_file(const std::string& name) {
  std::ifstream in(std::string(MAILONCE_CORPUS "/") + name, std::ios::binary);
  if (!in) throw std::runtime_error("no corpus file " + name);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::vector<CorpusPair> read_pairs() {
  std::vector<CorpusPair> pairs;
  for (const auto& row : corpus_table("manifest.tsv"))
    pairs.push_back({row.at(0), row.at(1), row.at(2), row.at(3), row.at(4), row.at(5)});
  return pairs;
}

}  // namespace

std::vector<std::vector<std::string>> corpus_table(const std::string& file) {
  std::istringstream in(read_file(file));
  std::vector<std::vector<std::string>> rows;
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::istringstream columns(line);
    auto& row = rows.emplace_back();
    for (std::string column; std::getline(columns, column, '\t');) row.push_back(column);
  }
  return rows;
}

const std::vector<CorpusPair>& corpus_pairs() {
  static const auto pairs = read_pairs();
  return pairs;
}

std::vector<CorpusPair> corpus_pairs(const std::string& expected) {
  std::vector<CorpusPair> pairs;
  for (const auto& pair : corpus_pairs())
    if (pair.expected == expected) pairs.push_back(pair);
  return pairs;
}

const std::set<std::string>& corpus_files() {
  static const auto files = [] {
    std::set<std::string> names;
    for (const auto& pair : corpus_pairs()) {
      names.insert(pair.file1);
      names.insert(pair.file2);
    }
    return names;
  }();
  return files;
}

std::string corpus_message(const std::string& file) {
  return read_file(file);
}

std::set<std::string> corpus_recipients(const std::string& file) {
  const auto json = read_file(file.substr(0, file.size() - 4) + ".json");
  const auto begin = json.find('[', json.find("\"rcpt_to\""));
  const auto list = json.substr(begin + 1, json.find(']', begin) - begin - 1);
  std::set<std::string> recipients;
  for (auto open = list.find('"'); open != std::string::npos;) {
    const auto close = list.find('"', open + 1);
    recipients.insert(list.substr(open + 1, close - open - 1));
    open = list.find('"', close + 1);
  }
  return recipients;
}

}  // namespace mailonce::message::test
