#include <string>

#include "mailonce/upstream/upstream.h"

namespace mailonce::upstream {
namespace {

// Boost's own base has a non-virtual destructor; nobody deletes through it.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
class Category final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "mailonce.upstream"; }
  std::string message(int value) const override {
    switch (static_cast<Errc>(value)) {
      case Errc::unreachable:
        return "upstream not reachable";
      case Errc::exhausted:
        return "no free connection to the upstream";
      case Errc::too_fast:
        return "max_rate of the upstream is used up";
      case Errc::closed:
        return "upstream closed the connection";
      case Errc::timed_out:
        return "upstream did not answer in time";
      case Errc::malformed_reply:
        return "upstream sent what is not a reply";
      case Errc::tls_required:
        return "upstream does not offer TLS, which is required";
      case Errc::tls_failed:
        return "TLS with the upstream failed";
      case Errc::refused:
        return "upstream refused the session";
      case Errc::auth_failed:
        return "upstream did not accept our credential";
      case Errc::lacks_extension:
        return "upstream lacks an extension the message needs";
    }
    return "unknown upstream error";
  }
};
#pragma GCC diagnostic pop

}  // namespace

const boost::system::error_category& category() noexcept {
  static const Category instance;
  return instance;
}

error_code make_error_code(Errc errc) noexcept {
  return {static_cast<int>(errc), category()};
}

}  // namespace mailonce::upstream
