#include "mailonce/redis/error.h"

#include <array>
#include <string>
#include <utility>

namespace mailonce::redis {
namespace {

class Category final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "redis"; }
  std::string message(int value) const override {
    switch (static_cast<Errc>(value)) {
      case Errc::closed:
        return "Redis closed the connection";
      case Errc::timed_out:
        return "Redis did not answer in time";
      case Errc::protocol:
        return "the answer is not Redis's protocol";
      case Errc::auth_failed:
        return "Redis refused user, password or database number";
      case Errc::no_permission:
        return "the Redis user lacks a permission (EVALSHA, EVAL, TIME, MGET, SET, DEL, or SELECT)";
      case Errc::no_script:
        return "Redis does not hold the script";
      case Errc::loading:
        return "Redis is still loading or busy";
      case Errc::read_only:
        return "Redis is a read-only replica";
      case Errc::out_of_memory:
        return "Redis is out of memory";
      case Errc::not_persisting:
        return "Redis can not save and refuses writes";
      case Errc::refused:
        return "Redis refused the command";
      case Errc::bad_url_scheme:
        return "the URL does not begin with redis://";
      case Errc::bad_url_host:
        return "the URL has no valid host";
      case Errc::bad_url_port:
        return "the URL's port is not a number from 1 to 65535";
      case Errc::bad_url_database:
        return "the URL's database is not a number";
      case Errc::bad_url_escape:
        return "the URL has a broken percent-encoding";
    }
    return "unknown Redis error";
  }
};

constexpr std::array<std::pair<std::string_view, Errc>, 9> meanings{{
    {"NOSCRIPT", Errc::no_script},
    {"WRONGPASS", Errc::auth_failed},
    {"NOAUTH", Errc::auth_failed},
    {"NOPERM", Errc::no_permission},
    {"LOADING", Errc::loading},
    {"BUSY", Errc::loading},
    {"READONLY", Errc::read_only},
    {"OOM", Errc::out_of_memory},
    {"MISCONF", Errc::not_persisting},
}};

}  // namespace

const boost::system::error_category& category() noexcept {
  static const Category instance;
  return instance;
}

error_code make_error_code(Errc errc) noexcept {
  return {static_cast<int>(errc), category()};
}

Errc meaning_of(std::string_view error_reply) noexcept {
  const auto word = error_reply.substr(0, error_reply.find(' '));
  for (const auto& [prefix, errc] : meanings) {
    if (word == prefix) return errc;
  }
  return Errc::refused;
}

}  // namespace mailonce::redis
