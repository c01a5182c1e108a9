// Plays a client's octets to a ServerMachine and writes down what came of it, as a session's shell would see
// it. The octets lie in a block of exactly their size that is overwritten and freed as soon as the machine
// wants more: what it should not have kept a view of shows under a sanitizer, and as garbage without one.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "mailonce/smtp/server_machine.h"

namespace mailonce::smtp {

struct Outcome {
  std::string output;                // all replies
  std::vector<std::string> actions;  // "rcpt a@b", "data", "message 5 hello", "abandon reset", "close",
                                     // "tls", "password user secret", "client ADDR login"; no NeedInput
  bool operator==(const Outcome&) const = default;
};

class Dialogue {
 public:
  explicit Dialogue(ServerMachineOptions options = default_options(), Capabilities path = default_path());

  static ServerMachineOptions default_options();
  static Capabilities default_path();  // 8BITMIME, ENHANCEDSTATUSCODES, no SIZE

  // The client sends `octets` in one segment; the answer is what the machine says until it wants more.
  std::string say(std::string_view octets);
  // Carries out actions until the machine wants input or closes.
  void run();

  ServerMachine machine;
  Outcome outcome;
  bool closed = false;
  NeedInput::Phase phase = NeedInput::Phase::command;
  std::vector<std::size_t> batches;  // how many recipients each AskRecipients had
  Reply data_reply{250, "2.0.0 queued"};

 private:
  // "no…" is refused 550, "later…" 451, "gone…" 421, everybody else stands.
  static Reply answer(const Recipient& recipient);
  void on(const NeedInput& action);
  void on(const AskCapabilities& action);
  void on(const AskRecipients& action);
  void on(const DataBegins& action);
  void on(const DataChunk& action);
  void on(const EndOfData& action);
  void on(const Abandon& action);
  void on(const Close& action);
  void on(const StartHandshake& action);
  void on(const CheckCredential& action);
  void on(const ClientNamed& action);
  void drain_output();

  ServerMachineOptions options_;
  Capabilities path_;
  std::string message_;
  bool waiting_ = false;
};

// The whole of `script` in pieces of at most `piece` octets.
Outcome play(std::string_view script, std::size_t piece,
             const ServerMachineOptions& options = Dialogue::default_options());
// In one segment; and checked to be the same when cut in two at every octet, and octet by octet.
Outcome play_anyhow(std::string_view script,
                    const ServerMachineOptions& options = Dialogue::default_options());

// "EHLO c" and a transaction up to an accepted recipient.
inline const std::string hello = "EHLO c\r\n";
inline const std::string envelope_lines = "MAIL FROM:<a@b>\r\nRCPT TO:<c@d>\r\n";

}  // namespace mailonce::smtp
