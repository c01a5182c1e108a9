#include "support/fault.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <utility>

namespace mailonce::test {
namespace {

using std::chrono::milliseconds;

constexpr std::array<std::pair<std::string_view, Phase>, 15> phases = {{
    {"connect", Phase::connect},
    {"banner", Phase::banner},
    {"ehlo", Phase::ehlo},
    {"starttls", Phase::starttls},
    {"tls", Phase::tls},
    {"ehlo-tls", Phase::ehlo_tls},
    {"auth", Phase::auth},
    {"mail", Phase::mail},
    {"rcpt", Phase::rcpt},
    {"data", Phase::data},
    {"body", Phase::body},
    {"dot", Phase::dot},
    {"after", Phase::after},
    {"rset", Phase::rset},
    {"quit", Phase::quit},
}};

constexpr std::array<std::pair<std::string_view, Verb>, 25> verbs = {{
    {"delay", Verb::delay},
    {"hold", Verb::hold},
    {"close", Verb::close},
    {"rst", Verb::rst},
    {"reply", Verb::reply},
    {"reply-close", Verb::reply_close},
    {"temp-fail", Verb::temp_fail},
    {"perm-fail", Verb::perm_fail},
    {"half", Verb::half},
    {"stall", Verb::stall},
    {"split", Verb::split},
    {"multiline", Verb::multiline},
    {"mismatched", Verb::mismatched},
    {"long", Verb::long_line},
    {"no-text", Verb::no_text},
    {"lf", Verb::lf},
    {"nul", Verb::nul},
    {"garbage", Verb::garbage},
    {"inject", Verb::inject},
    {"plaintext", Verb::plaintext},
    {"accept-then-close", Verb::accept_then_close},
    {"accept-then-rst", Verb::accept_then_rst},
    {"accept-then-stall", Verb::accept_then_stall},
    {"accept-then-hold", Verb::accept_then_hold},
    {"accept-then-reply", Verb::accept_then_reply},
}};

[[noreturn]] void fail(std::string_view what, std::string_view word) {
  throw std::invalid_argument(std::string(what) + ": \"" + std::string(word) + "\"");
}

template <class Table>
auto look_up(const Table& table, std::string_view name, std::string_view what) {
  for (const auto& [word, value] : table)
    if (word == name) return value;
  fail(what, name);
}

std::uint64_t parse_number(std::string_view text) {
  std::uint64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) fail("not a number", text);
  return number;
}

milliseconds parse_time(std::string_view text) {
  if (text.ends_with("ms")) return milliseconds(parse_number(text.substr(0, text.size() - 2)));
  if (text.ends_with("s")) return std::chrono::seconds(parse_number(text.substr(0, text.size() - 1)));
  fail("not a time such as 250ms or 8s", text);
}

std::string unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    switch (text[++i]) {
      case 'r':
        out += '\r';
        break;
      case 'n':
        out += '\n';
        break;
      case 't':
        out += '\t';
        break;
      case '0':
        out += '\0';
        break;
      default:
        out += text[i];
    }
  }
  return out;
}

std::string_view next_word(std::string_view& text) {
  auto begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) begin = text.size();
  auto end = std::min(text.find(' ', begin), text.size());
  auto word = text.substr(begin, end - begin);
  text.remove_prefix(std::min(text.size(), end + 1));
  return word;
}

bool three_digits(std::string_view word) {
  return word.size() == 3 &&
         std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

void set_phase(Fault& fault, std::string_view word) {
  if (word.starts_with("rcpt[") && word.ends_with("]")) {
    fault.recipient = parse_number(word.substr(5, word.size() - 6));
    word = "rcpt";
  }
  fault.phase = look_up(phases, word, "no such phase");
}

void set_verb(Fault& fault, std::string_view word, std::string_view argument) {
  if (three_digits(word)) {
    fault.verb = Verb::reply;
    fault.text = std::string(word) + " " + (argument.empty() ? "As you asked" : std::string(argument));
    return;
  }
  fault.verb = look_up(verbs, word, "no such verb");
  switch (fault.verb) {
    case Verb::delay:
    case Verb::accept_then_reply:
      fault.time = parse_time(argument);
      break;
    case Verb::multiline:
      fault.number = argument.empty() ? 200 : parse_number(argument);
      break;
    case Verb::long_line:
      fault.number = argument.empty() ? 10000 : parse_number(argument);
      break;
    case Verb::reply:
    case Verb::reply_close:
    case Verb::inject:
    case Verb::plaintext:
      if (argument.empty()) fail("needs a text", word);
      fault.text = unescape(argument);
      break;
    default:
      if (!argument.empty()) fail("takes no argument", word);
  }
  bool of_dot = fault.verb >= Verb::accept_then_close;
  if (of_dot && fault.phase != Phase::dot) fail("only at dot", word);
}

bool set_option(Fault& fault, std::string_view word) {
  auto equals = word.find('=');
  if (equals == std::string_view::npos) return false;
  auto name = word.substr(0, equals), value = word.substr(equals + 1);
  if (name == "times")
    fault.times = value == "every" ? Fault::every : parse_number(value);
  else if (name == "nth")
    fault.nth = parse_number(value);
  else if (name == "connection")
    fault.connection = parse_number(value);
  else if (name == "transaction")
    fault.transaction = parse_number(value);
  else if (name == "to")
    fault.to = value;
  else if (name == "from")
    fault.from = value;
  else if (name == "delay")
    fault.before = parse_time(value);
  else if (name == "octets")
    fault.octets = parse_number(value);
  else
    fail("no such option", name);
  return true;
}

bool like(const std::string& glob, std::string_view address) {
  return glob.empty() || fnmatch(glob.c_str(), std::string(address).c_str(), 0) == 0;
}

bool fits(const Fault& fault, const Situation& at) {
  if (fault.phase != at.phase) return false;
  if (fault.connection && fault.connection != at.connection) return false;
  if (fault.transaction && fault.transaction != at.transaction) return false;
  if (at.phase == Phase::body && at.body_octets < fault.octets) return false;
  if (!like(fault.from, at.sender)) return false;
  if (at.phase == Phase::rcpt) {
    if (fault.recipient && *fault.recipient + 1 != at.recipients.size()) return false;
    return like(fault.to, at.recipients.back());
  }
  auto asked = [&](const std::string& recipient) { return like(fault.to, recipient); };
  return fault.to.empty() || std::any_of(at.recipients.begin(), at.recipients.end(), asked);
}

std::optional<Fault> asked_by_address(const Situation& at) {
  switch (at.phase) {
    case Phase::mail:
      return Fault::of_address(at.sender, at.phase);
    case Phase::rcpt:
      return Fault::of_address(at.recipients.back(), at.phase);
    case Phase::data:
    case Phase::body:
    case Phase::dot:
    case Phase::after:
      for (const auto& recipient : at.recipients)
        if (auto fault = Fault::of_address(recipient, at.phase)) return fault;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace

Fault Fault::parse(std::string_view text) {
  Fault fault;
  auto word = next_word(text);
  while (set_option(fault, word)) word = next_word(text);
  set_phase(fault, word);
  word = next_word(text);
  set_verb(fault, word, text);
  return fault;
}

std::optional<Fault> Fault::of_address(std::string_view address, Phase phase) {
  constexpr std::string_view prefix = "fault+";
  if (!address.starts_with(prefix)) return std::nullopt;
  auto local = address.substr(prefix.size(), address.rfind('@') - prefix.size());
  auto dot = std::min(local.find('.'), local.size());
  auto verb = local.substr(std::min(local.size(), dot + 1));
  auto argument_at = std::min(verb.find('.'), verb.size());
  Fault fault;
  fault.times = every;
  try {
    set_phase(fault, local.substr(0, dot));
    if (fault.phase != phase) return std::nullopt;
    set_verb(fault, verb.substr(0, argument_at), verb.substr(std::min(verb.size(), argument_at + 1)));
  } catch (const std::invalid_argument&) {
    return std::nullopt;  // an address like any other
  }
  return fault;
}

std::uint64_t FaultPlan::arm(Fault fault) {
  std::lock_guard lock(mutex_);
  faults_.push_back(std::move(fault));
  armed_ = faults_.size();
  return ++last_id_;
}

void FaultPlan::clear() {
  std::lock_guard lock(mutex_);
  faults_.clear();
  armed_ = 0;
}

std::optional<Fault> FaultPlan::take(const Situation& situation) {
  if (armed_.load(std::memory_order_acquire) > 0) {
    std::lock_guard lock(mutex_);
    for (auto fault = faults_.begin(); fault != faults_.end(); ++fault) {
      if (!fits(*fault, situation)) continue;
      if (fault->nth > 1) {
        --fault->nth;
        continue;
      }
      Fault taken = *fault;
      if (fault->times != Fault::every && --fault->times == 0) {
        faults_.erase(fault);
        armed_ = faults_.size();
      }
      return taken;
    }
  }
  return asked_by_address(situation);
}

}  // namespace mailonce::test
