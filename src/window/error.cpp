#include "mailonce/window/error.h"

#include <string>

namespace mailonce::window {
namespace {

class Category final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "window"; }
  std::string message(int value) const override {
    switch (static_cast<Errc>(value)) {
      case Errc::malformed_answer:
        return "the store's answer is not that of a step";
      case Errc::store_down:
        return "the store is down";
      case Errc::timed_out:
        return "the store did not answer in time";
      case Errc::another_application:
        return "the file belongs to another application; name another file";
      case Errc::later_version:
        return "the file was written by a later version of mailonce; run that one, or name another file";
      case Errc::file_gone:
        return "the store's file was removed or replaced: what it held is forgotten, and repeated it is sent "
               "again";
      case Errc::not_replicated:
        return "fewer replicas of Redis than min_replicas have the record";
      case Errc::record_moving:
        return "the records of this message are moving from one master of the Cluster to another";
    }
    return "unknown window error";
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

bool concerns_one_step(const error_code& failure) noexcept {
  return failure == Errc::not_replicated || failure == Errc::record_moving;
}

}  // namespace mailonce::window
