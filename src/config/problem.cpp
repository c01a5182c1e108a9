#include "mailonce/config/problem.h"

#include <algorithm>
#include <numeric>

#include "mailonce/base/encoding.h"

namespace mailonce::config {
namespace {

// Edits that turn `a` into `b`: a letter more, less, other, or two neighbours exchanged.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> edits(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) edits[i][0] = i;
  std::iota(edits[0].begin(), edits[0].end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t other = a[i - 1] == b[j - 1] ? 0 : 1;
      edits[i][j] = std::min({edits[i - 1][j] + 1, edits[i][j - 1] + 1, edits[i - 1][j - 1] + other});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        edits[i][j] = std::min(edits[i][j], edits[i - 2][j - 2] + 1);
      }
    }
  }
  return edits[a.size()][b.size()];
}

// So that "allow-plaintext", "Allow_Plaintext" and "allow_plaintext" are near.
std::string folded(std::string_view word) {
  auto text = to_lower_ascii(word);
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

}  // namespace

std::string Problem::text() const {
  std::string out = where;
  if (!key.empty()) out += ": " + key;
  if (!value.empty()) out += " = " + value;
  out += ": " + reason;
  if (!cure.empty()) out += "; " + cure;
  return out;
}

std::vector<std::string> Report::lines() const {
  std::vector<std::string> lines;
  for (const auto& error : errors) lines.push_back("error: " + error.text());
  for (const auto& warning : warnings) lines.push_back("warning: " + warning.text());
  return lines;
}

std::string_view did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates) {
  constexpr std::size_t longest = 64;  // nobody mistypes more, and the effort is bounded
  if (word.size() > longest) return {};
  const auto wanted = folded(word);
  std::string_view best;
  std::size_t best_distance = 1 + std::max<std::size_t>(1, wanted.size() / 3);
  for (const auto candidate : candidates) {
    const auto edits = distance(wanted, folded(candidate));
    if (edits < best_distance) best = candidate, best_distance = edits;
  }
  return best;
}

}  // namespace mailonce::config
