#include <openssl/x509.h>

#include <boost/system/error_code.hpp>
#include <stdexcept>

#include "mailonce/net/tls.h"
#include "tls_sessions.h"

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

// OpenSSL finds out that the key is another certificate's when it takes the key.
void use_certificate(ssl::context& context, const std::string& certificate_file,
                     const std::string& key_file) {
  boost::system::error_code ec;
  context.use_certificate_chain_file(certificate_file, ec);
  require(ec, certificate_file);
  context.use_private_key_file(key_file, ssl::context::pem, ec);
  require(ec, key_file);
}

class CertificateCategory final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "certificate"; }
  std::string message(int value) const override {
    return std::string("certificate: ") + X509_verify_cert_error_string(value);
  }
};

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
  if (!options.certificate_file.empty()) {
    use_certificate(context, options.certificate_file, options.key_file);
  }
  TlsSessions::keep_in(context.native_handle());
  return context;
}

ssl::context make_server_context(const ServerTlsOptions& options) {
  ssl::context context = bare_context(ssl::context::tls_server);
  use_certificate(context, options.certificate_file, options.key_file);
  SSL_CTX* native = context.native_handle();
  SSL_CTX_set_options(native, SSL_OP_CIPHER_SERVER_PREFERENCE);
  // RFC 8446 §C.4: a resumed session skips the asking for certificates, whose authorities may have changed.
  constexpr unsigned char session_context[] = "mailonce";
  SSL_CTX_set_session_id_context(native, session_context, sizeof session_context - 1);
  if (!options.client_ca_file.empty()) {
    boost::system::error_code ec;
    context.load_verify_file(options.client_ca_file, ec);
    require(ec, options.client_ca_file);
    SSL_CTX_set_client_CA_list(native, SSL_load_client_CA_file(options.client_ca_file.c_str()));
    context.set_verify_mode(ssl::verify_peer);  // who shows none goes on without
    SSL_CTX_set_options(native, SSL_OP_NO_TICKET);
    SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
  }
  return context;
}

const boost::system::error_category& certificate_category() noexcept {
  static const CertificateCategory instance;
  return instance;
}

}  // namespace mailonce::net
