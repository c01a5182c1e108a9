// The server's side of AUTH PLAIN (RFC 4616), LOGIN (draft-murchison-sasl-login) and XOAUTH2 (Google's
// protocol) over SMTP (RFC 4954): the client's lines in, challenges and in the end a credential out. It
// judges form alone; whether the credential is right is somebody else's to say.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "mailonce/smtp/credential.h"
#include "mailonce/smtp/reply.h"

namespace mailonce::smtp {

class SaslServer {
 public:
  enum class Mechanism { plain, login, xoauth2 };
  // The challenge (334) or the refusal to say, or what the client gave.
  using Step = std::variant<Reply, Credential>;

  explicit SaslServer(Mechanism mechanism) : mechanism_(mechanism) {}
  // Nothing: not one of ours. Case does not count.
  static std::optional<Mechanism> mechanism(std::string_view name);

  // `initial`: the argument of AUTH behind the mechanism, "=" for an empty response; absent: ask for it.
  Step start(std::optional<std::string_view> initial);
  // A line that answers the last challenge; "*" cancels.
  Step respond(std::string_view line);

 private:
  Step take(std::string_view base64);
  Step take_plain(std::string_view message);
  Step take_login(std::string message);
  Step take_xoauth2(std::string_view message);

  Mechanism mechanism_;
  std::optional<std::string> user_;  // LOGIN: given already
};

}  // namespace mailonce::smtp
