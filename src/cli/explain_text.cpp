// The explanation for people.
#include <algorithm>
#include <ostream>

#include "explanation.h"
#include "mailonce/base/encoding.h"
#include "mailonce/message/header_fields.h"
#include "mailonce/message/header_value.h"
#include "mailonce/message/recording_sink.h"
#include "mailonce/observe/escape.h"

namespace mailonce::cli {
namespace {

// SGR sequences (ECMA-48 §8.3.117).
constexpr const char* bold = "\x1b[1m";
constexpr const char* faint = "\x1b[2m";
constexpr const char* red = "\x1b[31m";
constexpr const char* green = "\x1b[32m";
constexpr const char* plain = "\x1b[0m";

class Paint {
 public:
  explicit Paint(bool color) : color_(color) {}
  const char* on(const char* sequence) const { return color_ ? sequence : ""; }
  const char* off() const { return color_ ? plain : ""; }

 private:
  const bool color_;
};

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : ", ") + message::printable(word);
  return out;
}

void print_judgement(std::ostream& out, const Judgement& judgement) {
  const auto& policy = *judgement.policy;
  constexpr const char* modes[] = {"enforce", "observe", "off"};
  if (!judgement.identity) {
    out << (policy.mode == relay::Mode::off ? "no identity: mode = \"off\", the message is always forwarded\n"
                                            : "no identity: no strategy applies, the message is always "
                                              "forwarded\n");
  } else {
    out << "fingerprint " << judgement.identity->fingerprint.base64url() << '\n'
        << "strategy    " << judgement.identity->strategy.name() << '\n'
        << "content     " << judgement.identity->content.base64url() << '\n';
  }
  out << "rule        " << message::printable(policy.rule) << ", mode "
      << modes[static_cast<std::size_t>(policy.mode)] << '\n';
  if (!judgement.recipients.empty()) out << "recipients  " << joined(judgement.recipients) << '\n';
}

void print_judgements(std::ostream& out, const Explained& mail) {
  for (const auto& judgement : mail.judgements) {
    if (&judgement != &mail.judgements.front()) out << '\n';
    print_judgement(out, judgement);
  }
}

void print_item(std::ostream& out, const message::DescribedItem& item, const Paint& paint) {
  out << paint.on(item.counts ? green : faint) << (item.counts ? "  = " : "  - ");
  if (item.where != "header") out << item.where << ": ";
  out << item.what;
  const bool lines = item.value.find('\n') != std::string::npos;
  if (!lines && !item.value.empty()) out << ": " << item.value;
  if (!item.why.empty()) out << "  (" << item.why << ')';
  out << '\n';
  std::string_view rest = item.value;
  while (lines && !rest.empty()) {
    const auto end = std::min(rest.find('\n'), rest.size());
    out << "      | " << rest.substr(0, end) << '\n';
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  out << paint.off();
}

void print_difference(std::ostream& out, const message::Difference& difference, const Paint& paint) {
  const bool sides = difference.readable && difference.a.size() + difference.b.size() > 60;
  if (!sides) {
    out << "  " << difference.sentence() << '\n';
    return;
  }
  const auto side = [&](const char* mark, const char* color, const std::string& text) {
    out << "    " << paint.on(color) << mark << (text.empty() ? "(absent)" : text) << paint.off() << '\n';
  };
  out << "  " << difference.where << ":\n";
  side("< ", red, difference.a);
  side("> ", green, difference.b);
}

std::string subject_of(std::string_view octets) {
  message::HeaderScanner scanner(octets);
  message::HeaderField field;
  while (scanner.next(field)) {
    if (equals_ignoring_case(field.name, "Subject"))
      return message::printable(
          message::read_header_value(field.value, message::FieldSyntax::unstructured).text);
  }
  return "(no subject)";
}

}  // namespace

void print_one(std::ostream& out, const Explained& mail, bool color) {
  const Paint paint(color);
  print_judgements(out, mail);
  out << "\n= counts, - does not count\n";
  for (const auto& item : message::describe(mail.mail->octets, mail.judgements.front().policy->identity))
    print_item(out, item, paint);
}

void print_two(std::ostream& out, const Explained& a, const Explained& b,
               const message::Comparison& comparison, const Verdict& verdict, bool color) {
  const Paint paint(color);
  out << paint.on(bold) << verdict.sentence << paint.off() << '\n';
  for (const auto* differences : {&comparison.differences, &comparison.ignored}) {
    if (differences->empty()) continue;
    const bool counts = differences == &comparison.differences;
    out << (counts ? "\ndiffers and counts\n" : "\ndiffers and does not count\n");
    for (const auto& difference : *differences) print_difference(out, difference, paint);
  }
  out << "\nfirst\n";
  print_judgements(out, a);
  out << "\nsecond\n";
  print_judgements(out, b);
}

void print_many(std::ostream& out, const std::vector<Explained>& all) {
  std::size_t duplicates = 0, without = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& judgement = all[i].judgements.front();
    const auto first = first_of(all, i);
    out << message::printable(all[i].mail->name) << ": ";
    if (first) {
      ++duplicates;
      out << "duplicate of " << message::printable(all[*first].mail->name);
    } else if (!judgement.identity) {
      ++without;
      out << "no identity";
    } else {
      out << "new";
    }
    out << ", rule " << message::printable(judgement.policy->rule) << ", " << subject_of(all[i].mail->octets)
        << '\n';
  }
  out << all.size() << " messages, " << duplicates << " duplicates, " << without << " without identity\n";
}

}  // namespace mailonce::cli
