#include "mailonce/smtp/error.h"

#include <string>

namespace mailonce::smtp {
namespace {

class Category final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "smtp"; }
  std::string message(int value) const override {
    switch (static_cast<Errc>(value)) {
      case Errc::bad_syntax:
        return "bad syntax";
      case Errc::bad_address:
        return "bad address syntax";
      case Errc::address_too_long:
        return "address too long";
      case Errc::control_character:
        return "control character";
      case Errc::non_ascii_address:
        return "non-ASCII address without SMTPUTF8";
      case Errc::unknown_parameter:
        return "parameter not recognized or not implemented";
      case Errc::bad_parameter:
        return "bad parameter";
    }
    return "unknown SMTP error";
  }
};

}  // namespace

const boost::system::error_category& category() noexcept {
  static const Category instance;
  return instance;
}

error_code make_error_code(Errc errc) noexcept {
  return {static_cast<int>(errc), category()};
}

}  // namespace mailonce::smtp
