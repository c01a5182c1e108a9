#include "mailonce/smtp/sasl_server.h"

#include "mailonce/base/encoding.h"
#include "mailonce/base/wipe.h"
#include "octets.h"

namespace mailonce::smtp {
namespace {

// In base64, as RFC 4954 §4 wants challenges: what clients expect, word for word.
constexpr std::string_view ask_user = "VXNlcm5hbWU6";      // "Username:"
constexpr std::string_view ask_password = "UGFzc3dvcmQ6";  // "Password:"

Reply malformed() {
  return {501, "5.5.2 Error: the response is malformed"};
}

// A user name with control octets is no name, and a log or a provider might take it apart.
bool fit(std::string_view user, std::string_view secret) {
  return !user.empty() && !any_octet(user, is_control) && secret.find('\0') == std::string_view::npos;
}

}  // namespace

Credential::~Credential() {
  wipe(secret);
}

std::optional<SaslServer::Mechanism> SaslServer::mechanism(std::string_view name) {
  if (equals_ignoring_case(name, "PLAIN")) return Mechanism::plain;
  if (equals_ignoring_case(name, "LOGIN")) return Mechanism::login;
  if (equals_ignoring_case(name, "XOAUTH2")) return Mechanism::xoauth2;
  return std::nullopt;
}

SaslServer::Step SaslServer::start(std::optional<std::string_view> initial) {
  if (initial) return take(*initial == "=" ? std::string_view() : *initial);
  return Reply{334, mechanism_ == Mechanism::login ? std::string(ask_user) : std::string()};
}

SaslServer::Step SaslServer::respond(std::string_view line) {
  if (line == "*") return Reply{501, "5.7.0 Authentication cancelled"};
  return take(line);
}

SaslServer::Step SaslServer::take(std::string_view base64) {
  auto message = from_base64(base64);
  if (!message) return malformed();
  Step step;
  switch (mechanism_) {
    case Mechanism::plain:
      step = take_plain(*message);
      break;
    case Mechanism::login:
      return take_login(std::move(*message));
    case Mechanism::xoauth2:
      step = take_xoauth2(*message);
      break;
  }
  wipe(*message);
  return step;
}

// [authzid] NUL authcid NUL passwd
SaslServer::Step SaslServer::take_plain(std::string_view message) {
  const auto first = message.find('\0');
  const auto second = first == std::string_view::npos ? first : message.find('\0', first + 1);
  if (second == std::string_view::npos) return malformed();
  const auto acts_for = message.substr(0, first);
  const auto user = message.substr(first + 1, second - first - 1);
  const auto password = message.substr(second + 1);
  if (!fit(user, password)) return malformed();
  if (!acts_for.empty() && acts_for != user) return Reply{535, "5.7.8 Error: a user may act for no other"};
  return Credential{Credential::Kind::password, std::string(user), std::string(password)};
}

SaslServer::Step SaslServer::take_login(std::string message) {
  if (!user_) {
    if (!fit(message, "")) return malformed();
    user_ = std::move(message);
    return Reply{334, std::string(ask_password)};
  }
  if (!fit(*user_, message)) return malformed();
  return Credential{Credential::Kind::password, std::move(*user_), std::move(message)};
}

// "user=" name ^A "auth=Bearer " token ^A ^A
SaslServer::Step SaslServer::take_xoauth2(std::string_view message) {
  std::string_view user, token;
  bool ended = false;
  while (!message.empty()) {
    const auto end = message.find('\x01');
    if (end == std::string_view::npos) return malformed();
    const auto field = message.substr(0, end);
    message.remove_prefix(end + 1);
    if (field.empty()) {
      ended = message.empty();
      break;
    }
    if (field.starts_with("user=")) user = field.substr(5);
    if (equals_ignoring_case(field.substr(0, 12), "auth=Bearer ")) token = field.substr(12);
  }
  if (!ended || token.empty() || !fit(user, token) || any_octet(token, is_control)) return malformed();
  return Credential{Credential::Kind::bearer, std::string(user), std::string(token)};
}

}  // namespace mailonce::smtp
