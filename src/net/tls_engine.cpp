#include "tls_engine.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/error.hpp>
#include <new>

#include "mailonce/base/encoding.h"
#include "tls_sessions.h"

namespace mailonce::net {
namespace {

constexpr std::size_t record_octets = 16 * 1024;  // the most one TLS record carries (RFC 8446 §5.1)

}  // namespace

TlsEngine::TlsEngine(SSL_CTX* context) : ssl_(SSL_new(context)) {
  if (!ssl_) throw std::bad_alloc();
  BIO* in = BIO_new(BIO_s_mem());
  BIO* out = BIO_new(BIO_s_mem());
  if (in == nullptr || out == nullptr) throw std::bad_alloc();
  BIO_set_mem_eof_return(in, -1);  // empty means "not yet", not "end"
  BIO_set_mem_eof_return(out, -1);
  SSL_set_bio(ssl_.get(), in, out);
  SSL_set_mode(ssl_.get(), SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  SSL_set_min_proto_version(ssl_.get(), TLS1_2_VERSION);
}

TlsEngine TlsEngine::client(SSL_CTX* context, const std::string& name) {
  TlsEngine engine(context);
  SSL* ssl = engine.ssl_.get();
  SSL_set_connect_state(ssl);
  error_code not_an_address;
  boost::asio::ip::make_address(name, not_an_address);
  if (not_an_address) {
    SSL_set_tlsext_host_name(ssl, name.c_str());  // RFC 6066 §3: DNS names only
    SSL_set1_host(ssl, name.c_str());
  } else {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name.c_str());
  }
  // RFC 6125 §6.4.4 and RFC 9525: the subject's common name does not count any more.
  SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  TlsSessions::use(ssl, name);
  return engine;
}

TlsEngine TlsEngine::server(SSL_CTX* context) {
  TlsEngine engine(context);
  SSL_set_accept_state(engine.ssl_.get());
  return engine;
}

TlsEngine::Step TlsEngine::step(int result) {
  if (result > 0) return Step::done;
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return Step::need_input;
    case SSL_ERROR_ZERO_RETURN:
      return Step::closed;
    default:
      break;
  }
  const unsigned long code = ERR_get_error();
  error_ = code == 0 ? error_code(boost::asio::error::eof)
                     : error_code(static_cast<int>(code), boost::asio::error::get_ssl_category());
  return Step::failed;
}

TlsEngine::Step TlsEngine::handshake() {
  ERR_clear_error();
  return step(SSL_do_handshake(ssl_.get()));
}

TlsEngine::Step TlsEngine::read(std::span<char> into, std::size_t& octets) {
  ERR_clear_error();
  octets = 0;
  return step(SSL_read_ex(ssl_.get(), into.data(), into.size(), &octets));
}

TlsEngine::Step TlsEngine::peek() {
  ERR_clear_error();
  char octet = 0;
  return step(SSL_peek(ssl_.get(), &octet, 1));
}

TlsEngine::Step TlsEngine::write(Gather& from) {
  if (from.done()) return Step::done;
  std::array<char, record_octets> record;
  std::string_view octets = from.front().substr(0, record_octets);
  if (octets.size() < record_octets) {
    std::size_t used = 0;
    from.each([&](std::string_view piece) {
      const std::size_t part = std::min(piece.size(), record.size() - used);
      std::copy_n(piece.data(), part, record.data() + used);
      used += part;
      return used < record.size();
    });
    octets = {record.data(), used};
  }
  ERR_clear_error();
  std::size_t taken = 0;  // all of it: the memory BIO never blocks
  const Step result = step(SSL_write_ex(ssl_.get(), octets.data(), octets.size(), &taken));
  from.advance(taken);
  return result;
}

void TlsEngine::close_notify() {
  ERR_clear_error();
  if (SSL_is_init_finished(ssl_.get())) SSL_shutdown(ssl_.get());
  ERR_clear_error();
}

void TlsEngine::feed(std::string_view ciphertext) {
  const int taken =
      BIO_write(SSL_get_rbio(ssl_.get()), ciphertext.data(), static_cast<int>(ciphertext.size()));
  if (taken != static_cast<int>(ciphertext.size())) throw std::bad_alloc();
}

std::string_view TlsEngine::output() const {
  char* data = nullptr;
  const long octets = BIO_get_mem_data(SSL_get_wbio(ssl_.get()), &data);
  return octets > 0 ? std::string_view(data, static_cast<std::size_t>(octets)) : std::string_view();
}

void TlsEngine::consume_output(std::size_t octets) {
  BIO* out = SSL_get_wbio(ssl_.get());
  if (octets == output().size()) {
    BIO_reset(out);
    return;
  }
  std::array<char, record_octets> away;
  while (octets > 0) {
    const int taken = BIO_read(out, away.data(), static_cast<int>(std::min(octets, away.size())));
    if (taken <= 0) return;
    octets -= static_cast<std::size_t>(taken);
  }
}

std::string TlsEngine::description() const {
  return std::string(SSL_get_version(ssl_.get())) + " " + SSL_get_cipher_name(ssl_.get()) +
         (SSL_session_reused(ssl_.get()) != 0 ? " resumed" : "");
}

std::string TlsEngine::peer_name() const {
  X509* certificate = SSL_get0_peer_certificate(ssl_.get());
  if (certificate == nullptr || SSL_get_verify_result(ssl_.get()) != X509_V_OK) return {};
  std::string name(256, '\0');
  const int octets = X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName,
                                               name.data(), static_cast<int>(name.size()));
  name.resize(octets > 0 ? static_cast<std::size_t>(octets) : 0);
  const bool plain = std::all_of(name.begin(), name.end(),
                                 [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != '\x7f'; });
  if (!name.empty() && plain) return name;
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned length = 0;
  X509_digest(certificate, EVP_sha256(), digest.data(), &length);
  return "sha256:" + to_hex({digest.data(), length});
}

long TlsEngine::verification_result() const {
  const bool verifies = (SSL_get_verify_mode(ssl_.get()) & SSL_VERIFY_PEER) != 0;
  return verifies ? SSL_get_verify_result(ssl_.get()) : X509_V_OK;
}

}  // namespace mailonce::net
