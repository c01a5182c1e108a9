// Why the window has no answer. A store's own errors (redis::Errc, sqlite::category(), the system's) pass
// through unchanged.
#pragma once
#include <boost/system/error_category.hpp>

#include "mailonce/base/result.h"

namespace mailonce::window {

enum class Errc {
  malformed_answer = 1,  // the store answered something else than a step's result
  store_down,            // the store failed a moment ago and is not asked until it is back
  timed_out,             // no answer within the deadline; the step may be carried out all the same
  another_application,   // SQLite: the file is another application's
  later_version,         // SQLite: the file is a later version's
  file_gone,             // SQLite: the file was removed or replaced; the next step opens or makes it anew
  not_replicated,        // Redis: carried out, and on fewer replicas than min_replicas
  record_moving,         // Redis Cluster: not carried out; the message's records are between two masters
};

const boost::system::error_category& category() noexcept;
error_code make_error_code(Errc errc) noexcept;

// The store is up: it was this step that failed.
bool concerns_one_step(const error_code& failure) noexcept;

}  // namespace mailonce::window

template <>
struct boost::system::is_error_code_enum<mailonce::window::Errc> : std::true_type {};
