// From the greeting to a connection that is ready for mail, as a pure machine: replies in, actions out. It
// knows no socket and no clock; the shell carries out what each action says.
//
//   start() ─▶ ReadReply ─▶ on_reply() ─▶ Send … ─▶ StartTls ─▶ on_tls() ─▶ Send … ─▶ Ready | Failed
//
// It decides from what the upstream announced and never falls back to clear text: with Security::starttls
// nothing but EHLO and STARTTLS is said before the handshake, and a password needs TLS, a host that is this
// one, or the operator's leave (RFC 3207 §4.2, RFC 4954 §4).
#pragma once
#include <optional>
#include <string>
#include <variant>

#include "mailonce/smtp/capabilities.h"
#include "mailonce/smtp/reply.h"
#include "mailonce/upstream/options.h"
#include "mailonce/upstream/upstream.h"

namespace mailonce::upstream {

// Wait for a reply that was not asked for: the greeting.
struct ReadReply {};
// Send these octets, then wait for the reply. They may hold a password: not for logs.
struct Send {
  std::string octets;
};
// Make the handshake now, unless octets came after the reply: those were injected.
struct StartTls {};
// EHLO and AUTH are done; capabilities() holds.
struct Ready {};
struct Failed {
  Errc errc;
  std::string reason;                       // for the log, no secret in it
  std::optional<smtp::Reply> refusal = {};  // of AUTH, as the upstream gave it; without what repeats a secret
};
using SetupAction = std::variant<ReadReply, Send, StartTls, Ready, Failed>;

class SessionSetup {
 public:
  // `options` must outlive the machine. `local`: the peer is this host (a loopback address).
  SessionSetup(const Options& options, bool local) : options_(options), local_(local) {}

  // After the connection stands (with Security::tls: after its handshake).
  SetupAction start();
  SetupAction on_reply(const smtp::Reply& reply);
  SetupAction on_tls();

  const smtp::Capabilities& capabilities() const noexcept { return capabilities_; }
  // The step the machine is in, a stable word for logs: greeting, ehlo, helo, starttls, tls, auth, ready.
  std::string_view phase() const noexcept;

 private:
  enum class At {
    greeting,
    ehlo,
    helo,
    starttls,
    handshake,
    auth_plain,
    auth_login_user,
    auth_login_password,
    auth_xoauth2,
    ready
  };

  SetupAction say_ehlo();
  SetupAction on_ehlo(const smtp::Reply& reply);
  SetupAction on_starttls(const smtp::Reply& reply);
  SetupAction authenticate();
  SetupAction on_auth(const smtp::Reply& reply);
  SetupAction refused_auth(const smtp::Reply& reply);
  SetupAction fail(Errc errc, std::string reason);
  bool clear_text_is_safe() const noexcept { return secure_ || local_ || options_.allow_plaintext_auth; }

  const Options& options_;
  const bool local_;
  At at_ = At::greeting;
  bool secure_ = false;
  bool responded_ = false;  // PLAIN: the response was given; XOAUTH2: the error was acknowledged
  smtp::Capabilities capabilities_;
};

}  // namespace mailonce::upstream
