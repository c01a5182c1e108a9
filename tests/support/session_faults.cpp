#include "support/session.h"

namespace mailonce::test {

std::optional<Fault> Session::fault_at(Phase phase) {
  Situation at{phase, number_, transaction_, sender_, asked_, in_.size() - taken_};
  auto fault = shared_.plan.take(at);
  if (fault) shared_.recorder.add(&Stats::faults);
  return fault;
}

boost::asio::awaitable<bool> Session::answer(Phase phase, std::string reply, Done done) {
  auto fault = fault_at(phase);
  if (!fault) {
    if (done) done();
    say(reply);
    co_return true;
  }
  co_return co_await misbehave(*fault, std::move(reply), std::move(done));
}

boost::asio::awaitable<bool> Session::misbehave(const Fault& fault, std::string reply, Done done) {
  co_await flush();
  if (fault.verb >= Verb::accept_then_close && done) done();
  if (fault.before.count() > 0) co_await channel_.sleep(fault.before);
  switch (fault.verb) {
    case Verb::accept_then_hold:
    case Verb::accept_then_reply:
    case Verb::delay:
    case Verb::hold:
      if (fault.time.count() > 0)
        co_await channel_.sleep(fault.time);
      else
        co_await hold();
      if (fault.verb < Verb::accept_then_close && done) done();
      say(reply);
      co_return true;
    case Verb::accept_then_close:
    case Verb::close:
      channel_.close();
      open_ = false;
      co_return false;
    case Verb::accept_then_rst:
    case Verb::rst:
      channel_.reset();
      open_ = false;
      co_return false;
    case Verb::accept_then_stall:
    case Verb::stall:
      co_await stay_silent();
      co_return false;
    case Verb::temp_fail:
    case Verb::perm_fail:
      say(fault.verb == Verb::temp_fail ? shared_.profile.auth.temp_fail : shared_.profile.auth.perm_fail);
      co_return false;
    case Verb::plaintext:
    case Verb::reply_close:
      say(fault.text);
      co_await flush();
      co_await channel_.close_gently();
      open_ = false;
      co_return false;
    case Verb::reply: {
      bool usual = !reply.empty() && fault.text.front() == reply.front();
      if (usual && done) done();
      say(fault.text);
      co_return usual;
    }
    case Verb::mismatched:
    case Verb::garbage:
      say(fault.verb == Verb::garbage ? "Segmentation fault" : "250-first line\n550 last line");
      co_return false;
    case Verb::inject:
      if (done) done();
      say(reply);
      out_ += fault.text;
      co_return true;
    default:
      if (done) done();
      co_await say_oddly(fault.verb, fault.number, std::move(reply));
      co_return true;
  }
}

boost::asio::awaitable<void> Session::say_oddly(Verb verb, std::uint64_t number, std::string reply) {
  say(reply);
  std::string wire = std::move(out_);
  out_.clear();
  auto last = wire.rfind('\n', wire.size() - 2);
  last = last == std::string::npos ? 0 : last + 1;
  std::string code = wire.substr(last, 3);
  switch (verb) {
    case Verb::half:
      out_ = wire.substr(0, (wire.size() - 2) / 2);
      co_await flush();
      co_await stay_silent();
      break;
    case Verb::split:
      for (char c : wire) {
        out_ = c;
        co_await flush();
        // A turn of the loop between octets, so that they do not meet again in one segment.
        co_await channel_.sleep(std::chrono::milliseconds(1));
      }
      break;
    case Verb::multiline:
      for (std::uint64_t i = 1; i < number; ++i) out_ += code + "-line " + std::to_string(i) + "\r\n";
      out_ += wire.substr(last);
      break;
    case Verb::long_line:
      wire.insert(wire.size() - 2, std::string(number > wire.size() ? number - wire.size() : 0, 'x'));
      out_ = wire;
      break;
    case Verb::no_text:
      out_ = code + "\r\n";
      break;
    case Verb::lf:
      out_ = wire.substr(0, wire.size() - 2) + "\n";
      break;
    case Verb::nul:
      wire.insert(wire.size() - 2, 1, '\0');
      out_ = wire;
      break;
    default:
      out_ = wire;
  }
}

boost::asio::awaitable<void> Session::hold() {
  auto generation = shared_.go_generation.load();
  shared_.recorder.add(&Stats::held);
  while (shared_.go_generation.load() == generation) co_await channel_.sleep(std::chrono::milliseconds(2));
  shared_.recorder.change([](Stats& stats) { --stats.held; });
}

boost::asio::awaitable<void> Session::stay_silent() {
  while (open_) {
    taken_ = in_.size();
    co_await fill();
  }
}

}  // namespace mailonce::test
