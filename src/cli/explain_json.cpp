// The explanation as one JSON object on one line.
#include <ostream>

#include "explanation.h"
#include "json.h"

namespace mailonce::cli {
namespace {

void add_judgements(Json& json, const Explained& mail) {
  constexpr const char* modes[] = {"enforce", "observe", "off"};
  json.key("name").text(mail.mail->name);
  json.key("judgements").open('[');
  for (const auto& judgement : mail.judgements) {
    json.open('{').key("rule").text(judgement.policy->rule);
    json.key("mode").text(modes[static_cast<std::size_t>(judgement.policy->mode)]);
    json.key("recipients").open('[');
    for (const auto& recipient : judgement.recipients) json.text(recipient);
    json.close(']');
    if (judgement.identity) {
      json.key("strategy").text(judgement.identity->strategy.name());
      json.key("fingerprint").text(judgement.identity->fingerprint.base64url());
      json.key("content").text(judgement.identity->content.base64url());
    }
    json.close('}');
  }
  json.close(']');
}

void add_differences(Json& json, std::string_view name, const std::vector<message::Difference>& differences) {
  json.key(name).open('[');
  for (const auto& difference : differences) {
    json.open('{').key("where").text(difference.where);
    json.key("first").text(difference.a).key("second").text(difference.b);
    json.key("sentence").text(difference.sentence()).close('}');
  }
  json.close(']');
}

}  // namespace

void print_one_json(std::ostream& out, const Explained& mail) {
  std::string line;
  Json json(line);
  json.open('{');
  add_judgements(json, mail);
  json.key("items").open('[');
  for (const auto& item : message::describe(mail.mail->octets, mail.judgements.front().policy->identity)) {
    json.open('{').key("counts").flag(item.counts).key("where").text(item.where).key("what").text(item.what);
    json.key("value").text(item.value);
    if (!item.why.empty()) json.key("why").text(item.why);
    json.close('}');
  }
  json.close(']').close('}');
  out << line << '\n';
}

void print_two_json(std::ostream& out, const Explained& a, const Explained& b,
                    const message::Comparison& comparison, const Verdict& verdict) {
  std::string line;
  Json json(line);
  json.open('{').key("duplicate").flag(verdict.duplicate).key("verdict").text(verdict.sentence);
  add_differences(json, "differences", comparison.differences);
  add_differences(json, "ignored", comparison.ignored);
  json.key("messages").open('[');
  for (const auto* mail : {&a, &b}) {
    json.open('{');
    add_judgements(json, *mail);
    json.close('}');
  }
  json.close(']').close('}');
  out << line << '\n';
}

void print_many_json(std::ostream& out, const std::vector<Explained>& all) {
  std::string line;
  Json json(line);
  json.open('{').key("messages").open('[');
  for (std::size_t i = 0; i < all.size(); ++i) {
    json.open('{');
    add_judgements(json, all[i]);
    if (const auto first = first_of(all, i)) json.key("duplicate_of").text(all[*first].mail->name);
    json.close('}');
  }
  json.close(']').close('}');
  out << line << '\n';
}

}  // namespace mailonce::cli
