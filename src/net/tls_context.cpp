#include <boost/system/error_code.hpp>
#include <stdexcept>

#include "mailonce/net/tls.h"

namespace mailonce::net {
namespace {

namespace ssl = boost::asio::ssl;

ssl::context bare_context(ssl::context::method method) {
  ssl::context context(method);
  SSL_CTX* native = context.native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  SSL_CTX_set_options(native, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  return context;
}

void require(const boost::system::error_code& ec, const std::string& file) {
  if (ec) throw std::runtime_error(file + ": " + ec.message());
}

}  // namespace

ssl::context make_client_context(const ClientTlsOptions& options) {
  ssl::context context = bare_context(ssl::context::tls_client);
  boost::system::error_code ec;
  if (options.ca_file.empty()) {
    context.set_default_verify_paths(ec);
    require(ec, "the system's certificates");
  } else {
    context.load_verify_file(options.ca_file, ec);
    require(ec, options.ca_file);
  }
  context.set_verify_mode(options.verify ? ssl::verify_peer : ssl::verify_none);
  return context;
}

ssl::context make_server_context(const ServerTlsOptions& options) {
  ssl::context context = bare_context(ssl::context::tls_server);
  boost::system::error_code ec;
  context.use_certificate_chain_file(options.certificate_file, ec);
  require(ec, options.certificate_file);
  context.use_private_key_file(options.key_file, ssl::context::pem, ec);
  require(ec, options.key_file);
  return context;
}

}  // namespace mailonce::net
