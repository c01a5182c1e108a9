// From nothing to a session that is ready: carries out what the machine SessionSetup says.
#include <boost/asio/ip/address.hpp>

#include "mailonce/upstream/session_setup.h"
#include "session.h"

namespace mailonce::upstream {

void Environment::report(std::string_view phase, Errc errc, std::string_view reason, bool stale) const {
  // A kept connection that the upstream closed is everyday life; the caller makes another.
  log.event(stale ? observe::Level::info : observe::Level::warning,
            stale ? "upstream_stale" : "upstream_failed", reason,
            {{"upstream", options.name},
             {"phase", std::string(phase)},
             {"error", make_error_code(errc).message()}});
}

void Environment::lost(Errc why) const {
  if (breaker->failed(why, SteadyClock::now()))
    log.event(observe::Level::warning, "upstream_down",
              "failed several times: messages do not wait for it until it answers again",
              {{"upstream", options.name}, {"error", make_error_code(why).message()}});
}

void Environment::reached() const {
  if (breaker->reached())
    log.event(observe::Level::info, "upstream_up", "answers again", {{"upstream", options.name}});
}

void Environment::slow_down() const {
  if (pacer) pacer->hold_back(seconds(1), SteadyClock::now());
}

Session::Session(std::shared_ptr<const Environment> environment, net::Stream stream)
    : environment_(std::move(environment)), wire_(std::move(stream)) {}

Errc Session::fail(std::string_view phase, Errc errc, std::string_view reason) {
  stage_ = Stage::broken;
  environment_->report(phase, errc, reason, reused && errc == Errc::closed);
  return errc;
}

namespace {

// Stands in a set for as long as it exists.
template <class T>
class Registration {
 public:
  Registration(std::set<T*>& set, T* entry) : set_(set), entry_(entry) { set_.insert(entry_); }
  ~Registration() { set_.erase(entry_); }
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

 private:
  std::set<T*>& set_;
  T* const entry_;
};

}  // namespace

void LiveConnections::abort() noexcept {
  for (auto* connector : connecting) connector->cancel();
  for (auto* session : sessions) session->abort();
}

awaitable<Result<std::unique_ptr<Session>>> Session::open(std::shared_ptr<const Environment> environment,
                                                          LiveConnections& live) {
  const Options& options = environment->options;
  net::Connector connector;
  const Registration connecting(live.connecting, &connector);
  auto stream =
      co_await connector.connect(options.host, std::to_string(options.port), options.timeouts.connect);
  if (!stream) {
    const std::string reason = options.host + ": " + stream.error().message();
    environment->report("connect", Errc::unreachable, reason);
    co_return Errc::unreachable;
  }
  std::unique_ptr<Session> session(new Session(environment, std::move(*stream)));
  const Registration setting_up(live.sessions, session.get());
  auto ready = co_await session->set_up(live);
  if (!ready) co_return ready.error();
  co_return session;
}

awaitable<Result<>> Session::make_tls() {
  const Options& options = environment_->options;
  net::Stream& stream = wire_.stream();
  stream.expires_after(options.timeouts.connect);
  auto made = co_await stream.start_tls_client(*environment_->tls, options.host);
  if (made) co_return made;
  const std::string certificate = stream.tls_failure();
  const std::string reason = certificate.empty() ? made.error().message() : "certificate: " + certificate;
  co_return fail("tls", Errc::tls_failed, reason);
}

awaitable<Result<>> Session::set_up(LiveConnections& live) {
  const Options& options = environment_->options;
  SessionSetup setup(options, wire_.stream().remote_endpoint().address().is_loopback());
  if (options.security == Security::tls) {
    auto made = co_await make_tls();
    if (!made) co_return made;
  }
  SetupAction action = setup.start();
  for (;;) {
    if (const auto* failed = std::get_if<Failed>(&action)) {
      if (failed->refusal) live.auth_refusal = failed->refusal;
      co_return fail(setup.phase(), failed->errc, failed->reason);
    }
    if (std::holds_alternative<Ready>(action)) break;
    if (std::holds_alternative<StartTls>(action)) {
      // CVE-2011-0411: what comes in the clear behind the 220 would be taken for a reply inside TLS.
      if (!wire_.quiet())
        co_return fail("starttls", Errc::tls_failed, "octets came after the 220 and before TLS");
      auto made = co_await make_tls();
      if (!made) co_return made;
      action = setup.on_tls();
      continue;
    }
    if (auto* send = std::get_if<Send>(&action)) {
      commands_ = std::move(send->octets);
      auto written = co_await write_commands(setup.phase());
      OPENSSL_cleanse(commands_.data(), commands_.size());
      if (!written) co_return written;
    }
    const bool greeting = setup.phase() == "greeting";
    auto reply = co_await wire_.read_reply(greeting ? options.timeouts.greeting : options.timeouts.command);
    if (!reply)
      co_return fail(setup.phase(), static_cast<Errc>(reply.error().value()), reply.error().message());
    action = setup.on_reply(*reply);
  }
  capabilities_ = setup.capabilities();
  // RFC 8689 §4.2.1: over TLS whose certificate was verified, or not at all.
  capabilities_.requiretls = capabilities_.requiretls && wire_.stream().secure() && options.tls.verify;
  environment_->log.event(observe::Level::debug, "upstream_connected", "ready for mail",
                          {{"upstream", options.name}, {"tls", wire_.stream().tls_description()}});
  co_return Result<>();
}

}  // namespace mailonce::upstream
