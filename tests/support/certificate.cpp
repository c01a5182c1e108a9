#include "support/certificate.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <memory>
#include <stdexcept>

namespace mailonce::test {
namespace {

template <auto free>
struct Free {
  template <class T>
  void operator()(T* object) const {
    free(object);
  }
};

void need(bool ok, const char* what) {
  if (!ok) throw std::runtime_error(std::string("certificate: ") + what);
}

std::string alternative_names(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) {
    bool address = name.find_first_not_of("0123456789.:abcdef") == std::string::npos;
    text += (text.empty() ? "" : ",") + std::string(address ? "IP:" : "DNS:") + name;
  }
  return text;
}

void extend(X509* certificate, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  std::unique_ptr<X509_EXTENSION, Free<X509_EXTENSION_free>> extension(
      X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  need(extension && X509_add_ext(certificate, extension.get(), -1) == 1, "extension");
}

template <class Write>
std::string pem(Write&& write) {
  std::unique_ptr<BIO, Free<BIO_free_all>> memory(BIO_new(BIO_s_mem()));
  need(memory && write(memory.get()) == 1, "PEM");
  char* data = nullptr;
  auto size = BIO_get_mem_data(memory.get(), &data);
  return std::string(data, static_cast<std::size_t>(size));
}

}  // namespace

Certificate make_self_signed(const std::vector<std::string>& names, std::chrono::seconds valid_for) {
  std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>> key(EVP_EC_gen("P-256"));
  std::unique_ptr<X509, Free<X509_free>> certificate(X509_new());
  need(key && certificate, "key");
  X509* x509 = certificate.get();
  unsigned char serial = 0;
  RAND_bytes(&serial, 1);
  X509_set_version(x509, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(x509), 1 + serial);
  X509_gmtime_adj(X509_getm_notBefore(x509), -24 * 3600);
  X509_gmtime_adj(X509_getm_notAfter(x509), static_cast<long>(valid_for.count()));
  X509_set_pubkey(x509, key.get());
  auto* subject = X509_get_subject_name(x509);
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(names.front().c_str()), -1, -1, 0);
  X509_set_issuer_name(x509, subject);
  extend(x509, NID_subject_alt_name, alternative_names(names));
  extend(x509, NID_basic_constraints, "critical,CA:TRUE");
  need(X509_sign(x509, key.get(), EVP_sha256()) > 0, "signature");
  Certificate made;
  made.certificate_pem = pem([&](BIO* out) { return PEM_write_bio_X509(out, x509); });
  made.key_pem = pem([&](BIO* out) {
    return PEM_write_bio_PrivateKey(out, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
  return made;
}

}  // namespace mailonce::test
