// TLS contexts as mailonce uses them: TLS 1.2 or later, no compression, no renegotiation. Both functions
// throw std::runtime_error, naming the file and the reason, when a file can not be used: a bad start-up.
#pragma once
#include <boost/asio/ssl/context.hpp>
#include <boost/system/error_category.hpp>
#include <string>

namespace mailonce::net {

struct ClientTlsOptions {
  std::string ca_file;  // PEM; empty: the system's certificates
  bool verify = true;   // chain and name; false only for tests and broken smarthosts
  // PEM, what we show when the server asks for it; both or neither.
  std::string certificate_file = {};
  std::string key_file = {};
};
// Further connections of the context to a server go on with the TLS session of one before.
boost::asio::ssl::context make_client_context(const ClientTlsOptions& options);

// Why a peer's certificate was not accepted: X509_V_ERR_… in words.
const boost::system::error_category& certificate_category() noexcept;

struct ServerTlsOptions {
  std::string certificate_file;  // PEM, the chain from the server's own certificate upwards
  std::string key_file;          // PEM
  // PEM; clients may show a certificate of these authorities. Empty: none is asked for.
  std::string client_ca_file = {};
};
boost::asio::ssl::context make_server_context(const ServerTlsOptions& options);

}  // namespace mailonce::net
