#include <algorithm>
#include <charconv>

#include "support/session.h"
#include "support/text.h"

namespace mailonce::test {
namespace {

// What stands between the angle brackets, and what follows them.
bool split_path(std::string_view line, std::string& address, std::string& parameters) {
  auto open = line.find('<'), close = line.rfind('>');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return false;
  // A quoted local part may hold '>', a parameter can not.
  address = line.substr(open + 1, close - open - 1);
  parameters = line.substr(close + 1);
  if (parameters.starts_with(' ')) parameters.erase(0, 1);
  return true;
}

std::uint64_t declared_size(std::string_view parameters) {
  auto at = parameters.find("SIZE=");
  std::uint64_t size = 0;
  if (at != std::string_view::npos)
    std::from_chars(parameters.data() + at + 5, parameters.data() + parameters.size(), size);
  return size;
}

std::string unstuffed(std::string_view raw) {
  std::string content;
  content.reserve(raw.size());
  while (!raw.empty()) {
    if (raw.front() == '.') raw.remove_prefix(1);
    auto end = raw.find("\r\n");
    auto line = end == std::string_view::npos ? raw.size() : end + 2;
    content.append(raw.substr(0, line));
    raw.remove_prefix(line);
  }
  return content;
}

}  // namespace

boost::asio::awaitable<void> Session::command(std::string line) {
  shared_.recorder.command(number_, line);
  bool more_waits = taken_ < in_.size();
  if (more_waits && !shared_.profile.pipelining) {
    shared_.recorder.add(&Stats::unannounced_pipelining);
    say("554 5.5.0 Commands were sent before the reply to the one before");
    co_await flush();
    co_await channel_.close_gently();
    open_ = false;
    co_return;
  }
  auto is = [&](std::string_view verb) {
    return starts_with_ignoring_case(line, verb) &&
           (line.size() == verb.size() || line[verb.size()] == ' ' || verb.ends_with(':'));
  };
  if (is("MAIL FROM:")) {
    co_await on_mail(line);
  } else if (is("RCPT TO:")) {
    co_await on_rcpt(line);
  } else if (is("DATA")) {
    co_await on_data();
  } else if (is("EHLO")) {
    co_await on_ehlo(true);
  } else if (is("HELO")) {
    co_await on_ehlo(false);
  } else if (is("RSET")) {
    shared_.recorder.add(&Stats::rset);
    end_transaction();
    co_await answer(Phase::rset, shared_.profile.rset_ok);
  } else if (is("STARTTLS")) {
    co_await on_starttls();
  } else if (is("AUTH")) {
    co_await on_auth(line.substr(std::min<std::size_t>(line.size(), 5)));
  } else if (is("NOOP")) {
    say("250 2.0.0 Ok");
  } else if (is("QUIT")) {
    shared_.recorder.add(&Stats::quit);
    co_await answer(Phase::quit, shared_.profile.quit);
    co_await flush();
    if (open_) co_await channel_.close_gently();
    open_ = false;
  } else {
    say(shared_.profile.unknown);
  }
}

boost::asio::awaitable<void> Session::on_ehlo(bool extended) {
  end_transaction();
  bool secure = channel_.secure();
  const auto& wanted =
      secure && !shared_.profile.ehlo_tls.empty() ? shared_.profile.ehlo_tls : shared_.profile.ehlo_plain;
  std::vector<std::string> lines;
  for (const auto& line : wanted)
    if (line != "STARTTLS" || (shared_.tls && !secure)) lines.push_back(line);
  if (lines.empty()) lines.push_back("upstream.example");
  if (!extended) lines.resize(1);
  std::string reply;
  for (const auto& line : lines) {
    if (!reply.empty()) reply += '\n';
    reply += (&line == &lines.back() ? "250 " : "250-") + line;
  }
  co_await answer(secure ? Phase::ehlo_tls : Phase::ehlo, reply);
}

boost::asio::awaitable<void> Session::on_starttls() {
  if (!shared_.tls || channel_.secure()) {
    say("503 5.5.1 STARTTLS is not possible now");
    co_return;
  }
  bool go_on = co_await answer(Phase::starttls, shared_.profile.starttls_reply);
  if (!go_on) co_return;
  co_await flush();
  if (taken_ < in_.size()) shared_.recorder.add(&Stats::unannounced_pipelining);
  in_.clear();
  taken_ = 0;
  end_transaction();
  if (open_) open_ = co_await handshake();
}

boost::asio::awaitable<bool> Session::ask(std::string challenge, std::string& answered) {
  say(challenge);
  co_await flush();
  bool complete = take_line(answered);
  while (open_ && !complete) {
    co_await fill();
    complete = take_line(answered);
  }
  co_return complete;
}

// The initial response is "user=NAME^Aauth=Bearer TOKEN^A^A"; a wrong one is told by a challenge first, to
// which the client says nothing (Google's protocol).
boost::asio::awaitable<void> Session::on_bearer(std::string initial) {
  const auto& auth = shared_.profile.auth;
  const auto decoded = decode_base64(initial).value_or("");
  const auto end = decoded.find('\1');
  std::string user, token;
  const std::string before_token = "\1auth=Bearer ";
  if (end != std::string::npos && decoded.starts_with("user=") && decoded.ends_with("\1\1") &&
      decoded.compare(end, before_token.size(), before_token) == 0) {
    user = decoded.substr(5, end - 5);
    token = decoded.substr(end + before_token.size());
    token.resize(token.size() - 2);
  }
  if (!knows(user, token)) {
    std::string nothing;
    bool complete = co_await ask(auth.bearer_challenge, nothing);
    if (!complete) co_return;
  }
  co_await finish_auth(user, token);
}

bool Session::knows(const std::string& user, const std::string& password) const {
  const auto& users = shared_.profile.auth.users;
  const auto known = users.find(user);
  return !user.empty() && (users.empty() || (known != users.end() && known->second == password));
}

boost::asio::awaitable<void> Session::on_auth(std::string argument) {
  const auto& auth = shared_.profile.auth;
  auto space = argument.find(' ');
  auto mechanism = argument.substr(0, space);
  std::string initial = space == std::string::npos ? "" : argument.substr(space + 1);
  bool known = std::find(auth.mechanisms.begin(), auth.mechanisms.end(), mechanism) != auth.mechanisms.end();
  if (!known) {
    say("504 5.5.4 Unrecognized authentication type");
    co_return;
  }
  bool complete = true;
  if (mechanism == "PLAIN") {
    if (initial.empty()) complete = co_await ask(auth.plain_challenge, initial);
    if (!complete) co_return;
    // authorization NUL user NUL password
    auto decoded = decode_base64(initial).value_or("");
    auto first = decoded.find('\0');
    auto second = first == std::string::npos ? first : decoded.find('\0', first + 1);
    if (second == std::string::npos) decoded.clear();
    auto user = decoded.empty() ? "" : decoded.substr(first + 1, second - first - 1);
    auto password = decoded.empty() ? "" : decoded.substr(second + 1);
    co_await finish_auth(user, password);
  } else if (mechanism == "XOAUTH2") {
    co_await on_bearer(initial);
  } else {
    std::string password;
    if (initial.empty()) complete = co_await ask(auth.user_challenge, initial);
    if (complete) complete = co_await ask(auth.password_challenge, password);
    if (!complete) co_return;
    co_await finish_auth(decode_base64(initial).value_or(""), decode_base64(password).value_or(""));
  }
}

boost::asio::awaitable<void> Session::finish_auth(std::string user, std::string password) {
  const auto& auth = shared_.profile.auth;
  const bool right = knows(user, password);
  bool usual = co_await answer(Phase::auth, right ? auth.ok : auth.perm_fail);
  authenticated_ = usual && right;
  if (authenticated_) user_ = user;
  shared_.recorder.add(authenticated_ ? &Stats::auth_ok : &Stats::auth_failed);
}

boost::asio::awaitable<void> Session::on_mail(std::string line) {
  const auto& profile = shared_.profile;
  std::uint64_t number = shared_.recorder.next(&Stats::mail);
  std::string address, parameters;
  if (!split_path(line, address, parameters)) {
    say("501 5.1.7 Bad sender address syntax");
    co_return;
  }
  if (in_transaction_) {
    say("503 5.5.1 Error: nested MAIL command");
    co_return;
  }
  if (profile.auth.required && !authenticated_) {
    say(profile.auth.missing);
    co_return;
  }
  if (too_old() || (profile.max_messages && messages_ >= profile.max_messages->limit)) {
    say(too_old() ? profile.max_session->line : profile.max_messages->line);
    co_await flush();
    co_await channel_.close_gently();
    open_ = false;
    co_return;
  }
  transaction_ = number;
  sender_ = address;
  asked_.clear();
  recipients_.clear();
  const auto& limit = profile.size_limit;
  bool too_large = limit && limit->at_mail && declared_size(parameters) > limit->octets;
  bool usual = co_await answer(Phase::mail, too_large ? limit->line : profile.mail_ok);
  in_transaction_ = usual && !too_large;
  mail_parameters_ = parameters;
}

boost::asio::awaitable<void> Session::on_rcpt(std::string line) {
  shared_.recorder.add(&Stats::rcpt);
  std::string address, parameters;
  if (!in_transaction_) {
    say("503 5.5.1 Error: need MAIL command");
    co_return;
  }
  if (!split_path(line, address, parameters) || address.empty()) {
    say("501 5.1.3 Bad recipient address syntax");
    co_return;
  }
  asked_.push_back(address);
  const auto& limit = shared_.profile.max_recipients;
  bool too_many = limit && recipients_.size() >= limit->limit;
  bool usual = co_await answer(Phase::rcpt, too_many ? limit->line : shared_.profile.rcpt_ok);
  if (usual && !too_many) recipients_.push_back(address);
}

boost::asio::awaitable<void> Session::on_data() {
  shared_.recorder.add(&Stats::data);
  if (recipients_.empty()) {
    say(in_transaction_ ? "554 5.5.1 Error: no valid recipients" : "503 5.5.1 Error: need RCPT command");
    co_return;
  }
  if (taken_ < in_.size()) shared_.recorder.add(&Stats::unannounced_pipelining);
  bool go = co_await answer(Phase::data, shared_.profile.data_go);
  if (go && open_) co_await read_message();
}

boost::asio::awaitable<void> Session::read_message() {
  co_await flush();
  std::size_t searched = 0;  // octets of the body without an end in them
  bool checked = false;
  while (open_) {
    std::string_view body = std::string_view(in_).substr(taken_);
    if (!body.empty() && !checked) {
      auto fault = fault_at(Phase::body);
      checked = fault || !shared_.plan.armed();
      if (fault) {
        co_await misbehave(*fault, "", Done());
        co_await flush();
        continue;
      }
    }
    bool empty = body.starts_with(".\r\n");
    auto end = empty ? 0 : body.find("\r\n.\r\n", searched);
    if (end != std::string_view::npos) {
      std::size_t length = empty ? 0 : end + 2;
      std::string content = unstuffed(body.substr(0, length));
      taken_ += length + 3;
      co_await on_dot(std::move(content));
      co_return;
    }
    searched = body.size() > 4 ? body.size() - 4 : 0;
    co_await fill();
  }
}

std::string Session::refusal_at_dot(std::size_t octets) {
  const auto& profile = shared_.profile;
  if (profile.size_limit && octets > profile.size_limit->octets) return profile.size_limit->line;
  if (profile.rate && !shared_.recorder.within_rate(profile.rate->limit)) return profile.rate->line;
  return {};
}

boost::asio::awaitable<void> Session::on_dot(std::string content) {
  shared_.recorder.add(&Stats::dots);
  std::string reply = refusal_at_dot(content.size());
  Done done;
  if (reply.empty()) {
    reply = expand(shared_.profile.accept, shared_.recorder.serial());
    done = [&] {
      Accepted message;
      message.connection = number_;
      message.transaction = transaction_;
      message.sender = sender_;
      message.mail_parameters = mail_parameters_;
      message.recipients = recipients_;
      message.reply = reply;
      message.user = user_;
      message.tls = channel_.secure();
      shared_.recorder.accept(std::move(message), content);
      ++messages_;
    };
  }
  co_await answer(Phase::dot, reply, done);
  auto fault = open_ ? fault_at(Phase::after) : std::nullopt;
  end_transaction();
  if (!fault) co_return;
  co_await flush();
  co_await misbehave(*fault, "", Done());
}

void Session::end_transaction() {
  in_transaction_ = false;
  sender_.clear();
  mail_parameters_.clear();
  recipients_.clear();
  asked_.clear();
}

}  // namespace mailonce::test
