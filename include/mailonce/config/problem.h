// What is wrong with a configuration, in words a person can act on: where, which key, which value, why, and
// the cure.
#pragma once
#include <boost/system/result.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mailonce::config {

// Why a value can not be used and what to write instead. Both are sentences without their full stop.
struct Mistake {
  Mistake() = default;
  Mistake(std::string why, std::string what_to_do) : reason(std::move(why)), cure(std::move(what_to_do)) {}
  std::string reason;
  std::string cure;
};

// A value out of its text, or why not. Pure functions of this form serve the file and the command line alike.
template <class T>
using Parsed = boost::system::result<T, Mistake>;

struct Problem {
  std::string where;  // "mailonce.toml:12", "mailonce.toml" or the option, "--listen"
  std::string key;    // "window.content", "listen[1].allow[0]"; empty when the place says all
  std::string value;  // as written, with its quotes; empty: there is none, or it is a secret
  std::string reason;
  std::string cure;

  // mailonce.toml:12: window.content = "2 parsecs": is not a duration; write a number and a unit, as in "90s"
  // or "2h"
  std::string text() const;
};

// Everything found, not only the first. Errors prevent a start, warnings do not.
struct Report {
  std::vector<Problem> errors;
  std::vector<Problem> warnings;
  bool ok() const noexcept { return errors.empty(); }
  std::vector<std::string> lines() const;  // "error: …" and "warning: …"
};

// The one of `candidates` that `word` was probably meant to be; empty when none is near.
std::string_view did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates);

}  // namespace mailonce::config
