// What a client proves itself with (RFC 4954). Memory only: it is wiped at its end, and stands in no log.
#pragma once
#include <string>
#include <utility>

namespace mailonce::smtp {

struct Credential {
  enum class Kind {
    password,  // PLAIN (RFC 4616), LOGIN
    bearer,    // XOAUTH2: an OAuth 2.0 access token
  } kind = Kind::password;
  std::string user;
  std::string secret;

  Credential() = default;
  Credential(Kind of, std::string name, std::string proof)
      : kind(of), user(std::move(name)), secret(std::move(proof)) {}
  Credential(const Credential&) = default;
  Credential& operator=(const Credential&) = default;
  ~Credential();
};

}  // namespace mailonce::smtp
