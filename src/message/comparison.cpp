#include "mailonce/message/comparison.h"

#include <algorithm>
#include <unordered_map>

#include "mailonce/message/canonical_form.h"
#include "mailonce/message/recording_sink.h"

namespace mailonce::message {
namespace {

using Items = std::vector<RecordedItem>;

Items record(std::string_view message, const IdentityOptions& options) {
  RecordingSink sink;
  write_canonical_form(message, options, sink);
  return sink.take();
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (;;) {
    const auto end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return lines;
    text.remove_prefix(end + 1);
  }
}

class Comparer {
 public:
  Comparer(const Items& a, const Items& b, Comparison& result) : a_(a), b_(b), result_(result) {}

  void run() {
    const auto in_a = by_key(a_);
    const auto in_b = by_key(b_);
    for (const auto& item : a_) {
      const auto found = in_b.find(item.key);
      compare(&item, found == in_b.end() ? nullptr : found->second);
    }
    for (const auto& item : b_)
      if (!in_a.contains(item.key)) compare(nullptr, &item);
  }

 private:
  using Index = std::unordered_map<std::string_view, const RecordedItem*>;

  static Index by_key(const Items& items) {
    Index index;
    for (const auto& item : items) index.emplace(item.key, &item);
    return index;
  }

  void compare(const RecordedItem* a, const RecordedItem* b) {
    if (a != nullptr && b != nullptr && a->exact == b->exact && a->shown.why == b->shown.why) return;
    const auto& one = a != nullptr ? *a : *b;
    if (a != nullptr && b != nullptr && a->is_text && b->is_text) return compare_text(*a, *b);
    auto& list = one.shown.counts ? result_.differences : result_.ignored;
    list.push_back(
        {place(one), a != nullptr ? value(*a) : "", b != nullptr ? value(*b) : "", !one.is_digest});
  }

  // "Subject", "HTML text: type", "attachment 2 report.pdf: page 1 content".
  static std::string place(const RecordedItem& item) {
    if (item.shown.where == "header") return item.shown.what;
    return item.shown.where + ": " + item.shown.what;
  }

  static std::string value(const RecordedItem& item) {
    std::string text = item.shown.value.empty() ? "(empty)" : item.shown.value;
    if (item.shown.counts && item.shown.why.starts_with("taken as bytes"))
      text += " (" + item.shown.why + ")";
    return text;
  }

  // The lines between the common beginning and the common end.
  void compare_text(const RecordedItem& a, const RecordedItem& b) {
    constexpr std::size_t shown_lines = 5;
    const auto lines_a = lines_of(a.exact);
    const auto lines_b = lines_of(b.exact);
    const auto shorter = std::min(lines_a.size(), lines_b.size());
    std::size_t first = 0;
    while (first < shorter && lines_a[first] == lines_b[first]) ++first;
    std::size_t last = 0;
    while (last < shorter - first && lines_a[lines_a.size() - 1 - last] == lines_b[lines_b.size() - 1 - last])
      ++last;
    const auto end_a = lines_a.size() - last;
    const auto end_b = lines_b.size() - last;
    std::size_t shown = 0;
    for (auto line = first; line < std::max(end_a, end_b); ++line) {
      const auto text_a = line < end_a ? printable(lines_a[line]) : "";
      const auto text_b = line < end_b ? printable(lines_b[line]) : "";
      if (line < std::min(end_a, end_b) && lines_a[line] == lines_b[line]) continue;
      if (++shown > shown_lines) break;
      result_.differences.push_back(
          {a.shown.where + ", line " + std::to_string(line + 1), text_a, text_b, true});
    }
    if (shown > shown_lines) {
      result_.differences.push_back({a.shown.where + ", further lines",
                                     std::to_string(lines_a.size()) + " lines",
                                     std::to_string(lines_b.size()) + " lines", true});
    }
  }

  const Items& a_;
  const Items& b_;
  Comparison& result_;
};

Comparison::Verdict verdict(const Comparison& comparison) {
  using Verdict = Comparison::Verdict;
  if (!comparison.a || !comparison.b) return Verdict::no_identity;
  if (comparison.a->fingerprint != comparison.b->fingerprint) return Verdict::distinct;
  return comparison.a->content == comparison.b->content ? Verdict::duplicate : Verdict::other_content;
}

std::string order_of(const Items& items) {
  std::string order;
  for (const auto& item : items)
    if (item.shown.counts) order += (order.empty() ? "" : ", ") + item.shown.what;
  return order;
}

}  // namespace

std::string Difference::sentence() const {
  const auto quoted = [](const std::string& text) { return text.empty() ? "(absent)" : '"' + text + '"'; };
  if (!readable && a.empty()) return where + " is in the second alone";
  if (!readable && b.empty()) return where + " is in the first alone";
  if (!readable) return where + " differs";
  return where + ": " + quoted(a) + " / " + quoted(b);
}

Comparison compare(std::string_view a, std::string_view b, std::string_view scope,
                   const IdentityOptions& options) {
  Comparison result;
  result.a = identify(a, scope, options);
  result.b = identify(b, scope, options);
  const auto items_a = record(a, options);
  const auto items_b = record(b, options);
  Comparer(items_a, items_b, result).run();
  const bool contents_differ = result.a && result.b && result.a->content != result.b->content;
  if (contents_differ && result.differences.empty())
    result.differences.push_back({"order", order_of(items_a), order_of(items_b), true});
  result.verdict = verdict(result);
  return result;
}

}  // namespace mailonce::message
