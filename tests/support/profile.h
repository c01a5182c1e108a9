// How one provider behaves on the wire, as data: what the scripted upstream says when nothing is wrong.
// Profiles are TOML files in tests/support/profiles.
//
// Replies are given as they are sent, "250 2.1.0 Ok", several lines separated by '\n' with their codes. In
// them {hex:N}, {HEX:N} and {alnum:N} stand for N random characters, {serial} for the number of the accepted
// message and {date} for an RFC 5322 date.
#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mailonce::test {

struct TimedLine {
  std::chrono::milliseconds after{};
  std::string line;  // said before the connection is closed
};

struct CountedLine {
  std::uint64_t limit = 0;
  std::string line;
};

struct SizeLimit {
  std::uint64_t octets = 0;
  std::string line;
  bool at_mail = true;  // refused at MAIL when SIZE says so; otherwise, and always in the end, at the dot
};

struct Profile {
  struct Auth {
    std::vector<std::string> mechanisms;   // accepted ones: PLAIN, LOGIN, XOAUTH2
    std::string plain_challenge = "334 ";  // to AUTH PLAIN without an initial response
    std::string user_challenge = "334 VXNlcm5hbWU6";
    std::string password_challenge = "334 UGFzc3dvcmQ6";
    std::string bearer_challenge = "334 eyJzdGF0dXMiOiI0MDEifQ==";  // to a wrong token
    std::string ok = "235 2.7.0 Authentication successful";
    std::string temp_fail = "454 4.7.0 Temporary authentication failure";
    std::string perm_fail = "535 5.7.8 Authentication credentials invalid";
    std::map<std::string, std::string> users;  // name → password; empty: everybody is let in
    bool required = false;                     // MAIL without it is answered `missing`
    std::string missing = "530 5.7.0 Authentication required";
  };

  std::string name = "plain";
  std::string banner = "220 upstream.example ESMTP";
  // Without the code, first the greeting. STARTTLS is dropped when there is no certificate.
  std::vector<std::string> ehlo_plain;
  std::vector<std::string> ehlo_tls;
  std::string starttls_reply = "220 2.0.0 Ready to start TLS";
  Auth auth;
  std::string mail_ok = "250 2.1.0 Ok";
  std::string rcpt_ok = "250 2.1.5 Ok";
  std::string data_go = "354 End data with <CR><LF>.<CR><LF>";
  std::string accept = "250 2.0.0 Ok: queued as {hex:12}";
  std::string rset_ok = "250 2.0.0 Ok";
  std::string quit = "221 2.0.0 Bye";
  std::string unknown = "500 5.5.1 Command unrecognized";
  std::optional<TimedLine> idle_close;   // no octet for so long
  std::optional<TimedLine> max_session;  // age of the connection, asked between transactions
  // A MAIL beyond it, on one connection, is answered so and the connection closed.
  std::optional<CountedLine> max_messages;
  std::optional<CountedLine> max_recipients;   // a RCPT beyond it, in one transaction
  std::optional<CountedLine> max_connections;  // a connection beyond it gets this instead of the banner
  std::optional<CountedLine> rate;  // messages in a running second; beyond it the dot is answered so
  std::optional<SizeLimit> size_limit;
  bool pipelining = true;  // false: commands sent before the answer to the one before end the session

  // By name ("ses") from the profiles folder, or by path when it ends in ".toml". `overrides` is TOML laid
  // over it: "auth.required = true". Throws std::runtime_error saying what is wrong.
  static Profile load(std::string_view name_or_path, std::string_view overrides = {});
};

}  // namespace mailonce::test
