// SQLite's result codes as error codes.
#pragma once
#include <boost/system/error_category.hpp>

#include "mailonce/base/result.h"

namespace mailonce::sqlite {

// Values are SQLite's extended result codes; messages are for the operator and name a cure where there is
// one.
const boost::system::error_category& category() noexcept;

// Whether only another connection can help: the file is damaged, gone or can not be read.
bool is_fatal(const error_code& error) noexcept;

}  // namespace mailonce::sqlite
