#include "mailonce/upstream/session_setup.h"

#include "mailonce/base/encoding.h"
#include "mailonce/smtp/client_commands.h"
#include "mailonce/smtp/sasl.h"

namespace mailonce::upstream {
namespace {

constexpr std::size_t max_command_octets = 512;  // RFC 5321 §4.5.3.1.4
constexpr std::string_view auth_plain = "AUTH PLAIN ";
constexpr std::string_view auth_xoauth2 = "AUTH XOAUTH2 ";

std::string answered(std::string_view what, const smtp::Reply& reply) {
  return std::string(what) + " was answered " + reply.summary();
}

}  // namespace

std::string_view SessionSetup::phase() const noexcept {
  switch (at_) {
    case At::greeting:
      return "greeting";
    case At::ehlo:
      return "ehlo";
    case At::helo:
      return "helo";
    case At::starttls:
      return "starttls";
    case At::handshake:
      return "tls";
    case At::auth_plain:
    case At::auth_login_user:
    case At::auth_login_password:
    case At::auth_xoauth2:
      return "auth";
    case At::ready:
      return "ready";
  }
  return "ready";
}

// A server may repeat our line in its answer: a secret must not come into the log that way.
SetupAction SessionSetup::refused_auth(const smtp::Reply& reply) {
  std::string plain;
  bool echoed = reply.text.find(options_.password) != std::string::npos && !options_.password.empty();
  echoed = echoed || reply.text.find(to_base64(options_.password)) != std::string::npos;
  if (smtp::append_auth_plain(plain, options_.username, options_.password)) {
    const std::string_view response = std::string_view(plain).substr(auth_plain.size());
    echoed = echoed || reply.text.find(response.substr(0, response.size() - 2)) != std::string::npos;
  }
  std::string token;
  if (options_.bearer && smtp::append_auth_xoauth2(token, options_.username, options_.password)) {
    const auto response = std::string_view(token).substr(auth_xoauth2.size());
    echoed = echoed || reply.text.find(response.substr(0, response.size() - 2)) != std::string::npos;
  }
  if (echoed) {
    return Failed{Errc::auth_failed,
                  "AUTH was answered " + std::to_string(reply.code) + " (its text repeats the credential)",
                  smtp::Reply{reply.code, "5.7.8 Error: authentication failed"}};
  }
  return Failed{Errc::auth_failed, answered("AUTH", reply), reply};
}

SetupAction SessionSetup::fail(Errc errc, std::string reason) {
  return Failed{errc, std::move(reason)};
}

SetupAction SessionSetup::start() {
  secure_ = options_.security == Security::tls;
  at_ = At::greeting;
  return ReadReply{};
}

SetupAction SessionSetup::on_tls() {
  secure_ = true;
  return say_ehlo();  // RFC 3207 §4.2: what was known before is forgotten
}

SetupAction SessionSetup::on_reply(const smtp::Reply& reply) {
  switch (at_) {
    case At::greeting:
      if (!reply.completed()) return fail(Errc::refused, answered("the connection", reply));
      return say_ehlo();
    case At::ehlo:
      return on_ehlo(reply);
    case At::helo:
      if (!reply.completed()) return fail(Errc::refused, answered("HELO", reply));
      at_ = At::ready;
      return Ready{};
    case At::starttls:
      return on_starttls(reply);
    default:
      return on_auth(reply);
  }
}

SetupAction SessionSetup::say_ehlo() {
  at_ = At::ehlo;
  capabilities_ = {};
  Send send;
  smtp::append_ehlo(send.octets, smtp::HelloName::parse(options_.ehlo_name).value());
  return send;
}

SetupAction SessionSetup::on_ehlo(const smtp::Reply& reply) {
  if (!reply.completed()) {
    // RFC 5321 §3.2: an old server does not know EHLO. It knows neither TLS nor AUTH then.
    const bool old = reply.permanent() && options_.security == Security::plain && options_.username.empty();
    if (old) {
      at_ = At::helo;
      Send send;
      smtp::append_helo(send.octets, smtp::HelloName::parse(options_.ehlo_name).value());
      return send;
    }
    const bool no_tls = reply.permanent() && !secure_ && options_.security == Security::starttls;
    return fail(no_tls ? Errc::tls_required : Errc::refused, answered("EHLO", reply));
  }
  capabilities_ = smtp::Capabilities::parse(reply);
  if (options_.security == Security::starttls && !secure_) {
    if (!capabilities_.starttls) return fail(Errc::tls_required, "STARTTLS is not offered");
    at_ = At::starttls;
    return Send{std::string(smtp::starttls_command)};
  }
  return authenticate();
}

SetupAction SessionSetup::on_starttls(const smtp::Reply& reply) {
  if (reply.code != 220) return fail(Errc::tls_required, answered("STARTTLS", reply));
  at_ = At::handshake;
  return StartTls{};
}

SetupAction SessionSetup::authenticate() {
  if (options_.username.empty()) {
    at_ = At::ready;
    return Ready{};
  }
  at_ = At::auth_plain;
  if (!clear_text_is_safe())
    return fail(Errc::auth_failed, "a password is not sent without TLS to another host");
  Send send;
  if (options_.bearer) {
    if (!capabilities_.offers_auth("XOAUTH2"))
      return fail(Errc::auth_failed, "AUTH XOAUTH2 is not offered, and the credential is a token");
    at_ = At::auth_xoauth2;
    if (!smtp::append_auth_xoauth2(send.octets, options_.username, options_.password))
      return fail(Errc::auth_failed, "user name or token holds a control character");
  } else if (capabilities_.offers_auth("PLAIN")) {
    if (!smtp::append_auth_plain(send.octets, options_.username, options_.password)) {
      return fail(Errc::auth_failed, "user name or password holds a NUL");
    }
    // RFC 4954 §4: what does not fit into a command line is given after the challenge.
    if (send.octets.size() > max_command_octets) send.octets = "AUTH PLAIN\r\n";
  } else if (capabilities_.offers_auth("LOGIN")) {
    at_ = At::auth_login_user;
    smtp::append_auth_login(send.octets);
  } else {
    return fail(Errc::auth_failed, "neither AUTH PLAIN nor AUTH LOGIN is offered");
  }
  return send;
}

// The text of a 334 does not count: Mailgun's "Go ahead" is not even base64.
SetupAction SessionSetup::on_auth(const smtp::Reply& reply) {
  if (reply.completed()) {
    at_ = At::ready;
    return Ready{};
  }
  if (reply.code != 334) return refused_auth(reply);
  Send send;
  if (at_ == At::auth_xoauth2 && !responded_) {
    // It holds the error; the refusal comes after an empty response.
    responded_ = true;
    send.octets = "\r\n";
  } else if (at_ == At::auth_plain && !responded_) {
    responded_ = true;
    auto formed = smtp::append_auth_plain(send.octets, options_.username, options_.password);
    if (!formed) return fail(Errc::auth_failed, "user name or password holds a NUL");
    send.octets.erase(0, auth_plain.size());
  } else if (at_ == At::auth_login_user) {
    at_ = At::auth_login_password;
    smtp::append_login_answer(send.octets, options_.username);
  } else if (at_ == At::auth_login_password && !responded_) {
    responded_ = true;
    smtp::append_login_answer(send.octets, options_.password);
  } else {
    return refused_auth(reply);
  }
  return send;
}

}  // namespace mailonce::upstream
