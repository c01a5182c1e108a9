// Whose mail a session brings, and so what is asked of it: a proxy may say that it is not its own.
#include <boost/asio/error.hpp>

#include "mailonce/net/proxy_header.h"
#include "session.h"

namespace mailonce::server {

smtp::ServerMachineOptions Session::machine_options(const Client& client) const {
  const Listener& listener = door_->options();
  smtp::ServerMachineOptions machine;
  machine.secure = listener.tls == ListenerTls::implicit;
  machine.starttls = listener.tls == ListenerTls::starttls;
  machine.require_tls = listener.require_tls;
  machine.auth = listener.login != LoginAt::nobody;
  // The way from the proxy to us counts, too.
  machine.auth_in_clear = listener.auth_in_clear && client.on_this_host() && peer_.on_this_host();
  machine.require_auth = listener.offers_login() && !may_relay(listener, client);
  machine.hostname = options_.hostname;
  machine.max_message_octets = options_.max_message_octets;
  machine.max_recipients = options_.max_recipients;
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
  bool stays = co_await become(client);
  co_return stays;
}

void Session::log_proxy(std::string_view reason) {
  relay_.log.event(observe::Level::warning, "proxy_header_refused",
                   "A proxy did not say properly whose connection it passes on",
                   {{"session", id_}, {"client", client_}, {"error", std::string(reason)}});
}

// From here on the session is this client's, as after a new connection. False: it is turned away, and the
// stream is closed.
awaitable<bool> Session::become(Client client) {
  const Listener& listener = door_->options();
  client_ = client.text();
  const auto turned = place_.take(listener, client, false);
  if (!turned) {
    machine_ = smtp::ServerMachine(machine_options(client));
    co_return true;
  }
  relay_.log.event(observe::Level::warning, "session_refused", "A connection was refused",
                   {{"session", id_}, {"client", client_}, {"why", std::string(turned->why)}});
  // In the clear it would be noise where TLS is spoken from the first octet.
  if (listener.tls != ListenerTls::implicit) {
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
