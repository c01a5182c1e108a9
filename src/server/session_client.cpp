// Whose mail a session brings, and so what is asked of it: a proxy may say that it is not its own.
#include <boost/asio/error.hpp>

#include "mailonce/net/address.h"
#include "mailonce/net/proxy_header.h"
#include "session.h"

namespace mailonce::server {

smtp::ServerMachineOptions Session::machine_options(const Client& client) const {
  const Listener& listener = door_->options();
  smtp::ServerMachineOptions machine;
  machine.secure = listener.tls == ListenerTls::implicit || stream_.secure();
  machine.starttls = listener.tls == ListenerTls::starttls;
  machine.require_tls = listener.require_tls;
  machine.auth = listener.login != LoginAt::nobody;
  // The way from the proxy to us counts, too.
  machine.auth_in_clear = listener.auth_in_clear && client.on_this_host() && peer_.on_this_host();
  const auto standing = standing_of(listener, client);
  machine.require_auth = standing == Standing::stranger;
  machine.deny_relay = standing == Standing::nobody;
  machine.xclient = speaks_for_others_;
  // A name is no credential: with the client's own at the provider it would be somebody else's.
  machine.xclient_login = listener.login != LoginAt::upstream;
  machine.hostname = options_.hostname;
  machine.max_message_octets = options_.max_message_octets;
  machine.max_recipients = options_.max_recipients;
  machine.max_commands = options_.max_commands_without_message;
  return machine;
}

// A proxy says first whose connection it passes on, before TLS. False: nobody is served.
awaitable<bool> Session::meet_client() {
  net::ProxyHeader header;
  auto state = net::ProxyHeader::State::need_more;
  stream_.expires_after(options_.timeouts.handshake);  // for all of it
  const auto buffer = read_buffer(smtp::NeedInput::Phase::command);
  while (state == net::ProxyHeader::State::need_more) {
    if (draining_) co_return false;
    reading_ = true;
    auto octets = co_await stream_.read_some(buffer);
    reading_ = false;
    if (!octets) {
      const bool left = octets.error() != boost::asio::error::timed_out;
      // A proxy that only looks whether somebody is here says nothing.
      if (!draining_ && (header.begun() || !left))
        log_proxy(left ? "it ended too soon" : "it did not come in time");
      co_return false;
    }
    early_ = {buffer.data(), *octets};
    state = header.receive(early_);
  }
  if (state == net::ProxyHeader::State::malformed) {
    log_proxy(header.reason());
    co_return false;
  }
  Client client = peer_;
  if (header.source()) client.address = header.source()->address();
  speaks_for_others_ = client.address && door_->options().xclient.contains(*client.address);
  const auto standing = speaks_for_others_ ? Standing::known : standing_of(door_->options(), client);
  bool stays = co_await become(client, standing);
  co_return stays;
}

void Session::log_proxy(std::string_view reason) {
  relay_.log.event(observe::Level::warning, "proxy_header_refused",
                   "A proxy did not say properly whose connection it passes on",
                   {{"session", id_}, {"client", client_}, {"error", std::string(reason)}});
}

// XCLIENT: whoever may say it answers for what it says. Who logged in before, by AUTH or certificate, was the
// host that says it and is forgotten; LOGIN is a name like a user's of the file, and never a credential at
// the provider. What is not given stays as an XCLIENT before gave it. False: the session is over.
awaitable<bool> Session::assume(const smtp::ClientFacts& facts) {
  Client client = current_;
  if (facts.address.given) {
    client.address.reset();
    error_code none;
    const auto address = boost::asio::ip::make_address(facts.address.value, none);
    if (!none) client.address = net::unmapped(address);
  }
  if (facts.login.given) assumed_user_ = facts.login.value;
  upstream_.reset();
  user_ = credential_ = assumed_user_;
  relay_.log.event(observe::Level::info, "client_named", "A trusted host passes on another client's session",
                   {{"session", id_},
                    {"client", client.text()},
                    {"by", peer_.text()},
                    {"user", user_},
                    {"name", facts.name.value},
                    {"helo", facts.hello.value}});
  auto standing = standing_of(door_->options(), client);
  if (standing == Standing::nobody)
    standing = Standing::stranger;  // more may be said of it; it is told at MAIL
  if (!user_.empty()) standing = Standing::known;
  bool stays = co_await become(client, standing);
  if (!stays) co_return false;
  if (!assumed_user_.empty()) machine_.trust();
  machine_.greet();
  co_return true;
}

// From here on the session is this client's, as after a new connection. False: it is turned away, and the
// stream is closed.
awaitable<bool> Session::become(Client client, Standing standing) {
  const Listener& listener = door_->options();
  current_ = client;
  client_ = client.text();
  login_ends_ = SteadyClock::now() + options_.timeouts.login;
  const auto turned = place_.take(client, standing);
  if (!turned) {
    machine_ = smtp::ServerMachine(machine_options(client));
    co_return true;
  }
  relay_.log.event(observe::Level::warning, "session_refused", "A connection was refused",
                   {{"session", id_}, {"client", client_}, {"why", std::string(turned->why)}});
  // In the clear it would be noise where TLS is spoken from the first octet.
  if (listener.tls != ListenerTls::implicit || stream_.secure()) {
    std::string reply;
    smtp::Reply{turned->code, std::string(turned->text)}.append_to(reply);
    stream_.expires_after(options_.timeouts.write);
    co_await stream_.write(reply);
    stream_.expires_after(seconds(5));
    co_await stream_.shut_down();
  }
  stream_.close();
  co_return false;
}

}  // namespace mailonce::server
