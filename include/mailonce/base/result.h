// A value or the error_code that says why there is none. Each module has its own error category; a refusal by
// a peer is not an error but a value (smtp::Reply), and an exception is a bug or a bad start-up.
#pragma once
#include <boost/system/error_code.hpp>
#include <boost/system/result.hpp>

namespace mailonce {

using boost::system::error_code;

template <class T = void>
using Result = boost::system::result<T>;

}  // namespace mailonce
