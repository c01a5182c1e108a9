// JSON as it is written, one value after the other.
#pragma once
#include <string>
#include <string_view>

#include "mailonce/observe/escape.h"

namespace mailonce::cli {

// Writes one object or list; the commas are its care.
class Json {
 public:
  explicit Json(std::string& out) : out_(out) {}

  Json& key(std::string_view name) {
    next();
    observe::append_json_string(out_, name);
    out_ += ':';
    begun_ = false;
    return *this;
  }
  Json& text(std::string_view value) {
    next();
    observe::append_json_string(out_, value);
    return *this;
  }
  Json& raw(std::string_view value) {
    next();
    out_ += value;
    return *this;
  }
  Json& flag(bool value) { return raw(value ? "true" : "false"); }
  Json& open(char bracket) {
    next();
    out_ += bracket;
    begun_ = false;
    return *this;
  }
  Json& close(char bracket) {
    out_ += bracket;
    begun_ = true;
    return *this;
  }

 private:
  void next() {
    if (begun_) out_ += ',';
    begun_ = true;
  }
  std::string& out_;
  bool begun_ = false;
};

}  // namespace mailonce::cli
