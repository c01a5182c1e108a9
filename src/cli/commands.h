// The commands, as the command line gives them. Each returns the exit code.
#pragma once
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "mailonce/config/configuration.h"

namespace mailonce::cli {

struct Streams {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
};

struct ServeCommand {
  std::optional<std::string> config;
  config::Overrides overrides;
};
int serve(const ServeCommand& command, Streams streams);

struct CheckCommand {
  std::optional<std::string> config;
  config::Overrides overrides;
  bool connect = false;
};
int check(const CheckCommand& command, Streams streams);

struct ExplainCommand {
  std::vector<std::string> messages;  // files, mailboxes; "-" is standard input
  std::optional<std::string> config;
  std::optional<std::string> sender;  // envelope; absent: as the header says
  std::string user;                   // as which the client logged in
  std::vector<std::string> recipients;
  bool json = false;
  std::string color = "auto";  // auto, always, never
};
int explain(const ExplainCommand& command, Streams streams);

// Which records: those that meet everything given.
struct RecordsWanted {
  std::string fingerprint;  // or its beginning
  std::string message_id;   // with or without its brackets
  std::string recipient;
  std::string key;
  std::string user;  // with key: of the client that logged in as this user
  bool doubt = false;  // only those in doubt
};

struct WindowCommand {
  enum class What { list, show, forget, resolve_sent, resolve_not_sent } what = What::list;
  std::optional<std::string> config;
  config::Overrides overrides;
  RecordsWanted wanted;
  bool json = false;
};
int window(const WindowCommand& command, Streams streams);

}  // namespace mailonce::cli
