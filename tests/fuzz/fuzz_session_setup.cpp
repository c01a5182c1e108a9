// An upstream that answers anything: log-in ends after a few steps, says one whole line at a time, gives the
// password to nobody but a peer that may have it, and never repeats it in a log. The first octet chooses the
// options.
#include <optional>
#include <string>

#include "fuzz.h"
#include "mailonce/base/encoding.h"
#include "mailonce/smtp/reply_parser.h"
#include "mailonce/upstream/session_setup.h"

namespace {

using namespace mailonce;
using namespace mailonce::upstream;

using mailonce::fuzz::check;

constexpr std::string_view password = "Zq9-secret";

Options options_of(std::uint8_t choice) {
  Options options;
  options.ehlo_name = "relay.example";
  options.security = static_cast<Security>(choice % 3);
  if ((choice & 4U) != 0) {
    options.username = "apikey";
    options.password = password;
  }
  if ((choice & 8U) != 0) options.username.append(400, 'u');
  options.allow_plaintext_auth = (choice & 16U) != 0;
  return options;
}

class Shell {
 public:
  Shell(const Options& options, bool local, std::string_view replies)
      : options_(options), local_(local), replies_(replies), setup_(options, local) {
    secure_ = options.security == Security::tls;
  }

  void run() {
    auto action = std::optional(setup_.start());
    for (int steps = 0; action; ++steps) {
      check(steps < 10 && !setup_.phase().empty());
      action = std::visit([this](const auto& what) { return on(what); }, *action);
    }
  }

 private:
  std::optional<SetupAction> on(const ReadReply& /*greeting*/) { return answer(); }

  std::optional<SetupAction> on(const Send& send) {
    const auto& line = send.octets;
    check(line.size() >= 2 && line.find_first_of("\r\n") == line.size() - 2 && line.ends_with("\r\n"));
    const bool may_hold_password = secure_ || local_ || options_.allow_plaintext_auth;
    const bool known =
        line == "EHLO relay.example\r\n" || line == "HELO relay.example\r\n" || line == "STARTTLS\r\n";
    check(known || (!options_.username.empty() && may_hold_password));
    if (options_.security == Security::starttls && !secure_) check(known && !line.starts_with("HELO"));
    said_credential_ = said_credential_ || !known;
    return answer();
  }

  std::optional<SetupAction> on(const StartTls& /*now*/) {
    check(options_.security == Security::starttls && !secure_);
    secure_ = true;
    return setup_.on_tls();
  }

  std::optional<SetupAction> on(const Ready& /*done*/) {
    check(setup_.phase() == "ready");
    check(secure_ || options_.security == Security::plain);
    check(said_credential_ == !options_.username.empty());
    return std::nullopt;
  }

  std::optional<SetupAction> on(const Failed& failed) {
    check(!failed.reason.empty() && failed.reason.find_first_of("\r\n") == std::string::npos);
    if (!said_credential_) return std::nullopt;
    const auto is_told = [&](const std::string& secret) {
      return failed.reason.find(secret) != std::string::npos;
    };
    if (!options_.password.empty())
      check(!is_told(options_.password) && !is_told(to_base64(options_.password)));
    return std::nullopt;
  }

  std::optional<SetupAction> answer() {
    if (parser_.feed(replies_) != smtp::ReplyParser::Status::complete) return std::nullopt;
    return setup_.on_reply(parser_.take());
  }

  const Options& options_;
  bool local_;
  bool secure_;
  bool said_credential_ = false;
  std::string_view replies_;
  smtp::ReplyParser parser_;
  SessionSetup setup_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto options = options_of(data[0]);
  Shell(options, (data[0] & 32U) != 0, mailonce::fuzz::text(data + 1, size - 1)).run();
  return 0;
}
