// The inside of ServerMachine. server_commands.cpp handles command lines, server_data.cpp the body; each
// leaves in the fields under "due" what next() has to report.
#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "line_ends.h"
#include "line_reader.h"
#include "mailonce/smtp/command.h"
#include "mailonce/smtp/data_codec.h"
#include "mailonce/smtp/sasl_server.h"
#include "mailonce/smtp/server_machine.h"

namespace mailonce::smtp {

struct ServerMachine::State {
  explicit State(ServerMachineOptions given)
      : options(std::move(given)),
        reader(options.auth ? std::max(options.max_line_octets, options.max_auth_line_octets)
                            : options.max_line_octets),
        max_recipients(options.max_recipients),
        secure(options.secure) {}

  // server_machine.cpp
  ServerAction next();
  NeedInput need(NeedInput::Phase phase) { return {phase, !std::exchange(handled, false)}; }
  void say(std::string_view reply) { output.append(reply).append("\r\n"); }
  void say(const Reply& reply);
  void close_with(std::string_view reply);
  void end_session();
  void abandon_as(Abandon::Why why);
  void forget_transaction();

  // server_commands.cpp
  bool handle_line();  // false: more input is needed
  void refuse_line(std::string_view reply);
  void handle_command(std::string_view line);
  void refuse(const Refusal& refusal, bool after_refused_data);
  void fail(std::string_view reply);
  bool one_error_too_many();
  void begin_session(std::string_view name);
  void on(Ehlo command);
  void on(Helo command);
  void on(Mail command);
  void on(Rcpt command);
  void on(Data command);
  void on(Rset command);
  void on(Noop command);
  void on(Vrfy command);
  void on(Quit command);
  void on(StartTls command);
  void on(Auth command);
  void on(Bdat command);
  void on(const Xclient& command);
  std::string_view xclient_attributes() const;
  bool may_send_mail();
  // Why it can not be: it uses what was not announced. Empty: it can.
  std::string_view unannounced(const Sender& sender) const;
  std::string_view unannounced(const Recipient& recipient) const;

  // server_auth.cpp
  bool clear_is_enough() const { return options.auth_in_clear && !options.require_tls; }
  bool may_authenticate(const Auth& command);
  void take(SaslServer::Step step);
  void answer_challenge(std::string_view line);
  bool room_for_recipients() const;

  // server_data.cpp
  void begin_data();
  ServerAction next_in_data();
  ServerAction end_of_data();
  ServerAction end_of_message(DataDecoder::Fault fault, std::uint64_t octets);
  ServerAction abandon_body(Abandon::Why why, const Reply& reply);

  // server_bdat.cpp
  std::optional<ServerAction> next_in_chunk();  // nothing: the chunk was answered
  std::optional<ServerAction> end_of_chunk();
  std::optional<ServerAction> more_chunks();
  ServerAction end_of_chunks();

  const ServerMachineOptions options;
  LineReader reader;
  std::string output;

  // The session: what EHLO or HELO agreed on.
  std::string client_name;
  Capabilities announced;
  std::uint64_t max_octets = 0;  // of a message: our own limit, or less when the path takes less
  std::size_t max_recipients;    // likewise
  std::size_t errors = 0;
  std::size_t commands = 0;  // since the last message that was taken, but for what brought the next one on
  bool handled = true;       // a line, a chunk or a body since input was asked for
  bool met_bare_lf = false;
  bool data_was_refused = false;  // by the command before this one
  bool heard = false;             // anything at all
  bool secure = false;
  std::vector<std::string> mechanisms;   // announced
  std::optional<SaslServer> sasl;        // a challenge is open
  std::optional<Credential> credential;  // to be checked
  bool authenticated = false;            // by AUTH
  bool trusted = false;                  // by its certificate
  std::size_t failed_logins = 0;

  // The transaction.
  Envelope envelope;
  std::vector<Recipient> batch;  // RCPT being asked about
  bool open = false;             // MAIL was accepted
  bool asked = false;            // AskRecipients was given
  bool abandoned = false;        // Abandon was given; forgotten at the next next()
  bool in_data = false;
  DataDecoder decoder;
  std::optional<Reply> refusal;  // refuse_data()

  // A body by BDAT.
  bool chunked = false;   // it has begun
  bool in_chunk = false;  // octets of a chunk are to come, of this transaction or of none
  Bdat chunk{};
  std::uint64_t chunk_left = 0;
  std::string_view chunk_refusal;  // static; said when the chunk was read
  LineEnds chunked_text;
  bool bdat_failed = false;  // and the chunks behind it are on their way

  // Due.
  std::optional<Abandon::Why> abandon;
  bool closing = false;
  bool ask_capabilities = false;
  bool ask_recipients = false;
  bool data_begins = false;
  bool start_handshake = false;
  bool check_credential = false;
  std::optional<ClientFacts> client_facts;
  bool name_client = false;
  // The answer the shell owes.
  enum class Owed {
    nothing,
    capabilities,
    handshake,
    credential,
    client,
    recipients,
    data
  } owed = Owed::nothing;
};

}  // namespace mailonce::smtp
