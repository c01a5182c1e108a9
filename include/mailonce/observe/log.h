// The log: decisions and events, one line each, as JSON or text (spdlog). Thread-safe. Never holds a secret
// or content.
//
// A call formats its line and appends it to a buffer; another thread writes the buffer, at most 250 ms later
// and at once after a warning. So no message waits for the log's disk, and a process that is killed loses the
// lines of its last quarter of a second. Lines can not be forged: see escape.h.
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
enum class Addresses { full, domain, hashed };  // how envelope addresses stand in the log, replies included

struct LogOptions {
  Format format = Format::text;
  Level level = Level::info;  // decisions are `info`, doubt is `warning`
  Addresses addresses = Addresses::full;
  std::string address_secret;  // keys the hash of `hashed`; empty: a random one for each process
  std::string file;            // appended to; empty: standard error
};

// A named value of an event. The name is a word of ours; the value may hold any octets.
using Field = std::pair<std::string_view, std::string>;

class Log {
 public:
  // Throws std::runtime_error when the file can not be opened.
  explicit Log(LogOptions options);
  ~Log();  // writes what is left

  void decision(const Decision& decision);
  // `event` is a stable word (store_down, upstream_unreachable, session_refused); `text` is for a person.
  void event(Level level, std::string_view event, std::string_view text,
             std::initializer_list<Field> fields = {});
  // Returns when what was logged before is written.
  void flush();
  bool enabled(Level level) const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mailonce::observe
