// The log: decisions and events, as JSON or text lines (spdlog). Thread-safe. Never holds a secret or
// content.
#pragma once
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "mailonce/observe/decision.h"

namespace mailonce::observe {

enum class Level { debug, info, warning, error };
enum class Format { json, text };
enum class Addresses { full, domain, hashed };  // how envelope addresses stand in the log

struct LogOptions {
  Format format = Format::text;
  Level level = Level::info;
  Addresses addresses = Addresses::full;
  std::string address_secret;  // keys the hash of `hashed`
  std::string file;            // empty: standard error
};

// A named value of an event. Values are escaped as the format needs.
using Field = std::pair<std::string_view, std::string>;

class Log {
 public:
  // Throws std::runtime_error when the file can not be opened.
  explicit Log(LogOptions options);
  ~Log();

  void decision(const Decision& decision);
  // `event` is a stable word (store_down, upstream_unreachable, session_refused); `text` is for a person.
  void event(Level level, std::string_view event, std::string_view text,
             std::initializer_list<Field> fields = {});
  void flush();
  bool enabled(Level level) const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mailonce::observe
