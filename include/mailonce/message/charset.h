// Character sets to UTF-8 through GMime's iconv layer, strictly: what does not convert as a whole is not
// text.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace mailonce::message {

bool is_ascii(std::string_view bytes) noexcept;
bool is_utf8(std::string_view bytes) noexcept;             // RFC 3629: no overlong forms, no surrogates
std::size_t utf8_prefix(std::string_view bytes) noexcept;  // octets of the longest beginning that is UTF-8

// Of a charset's name. What is broken in a text of one of these can still be told from what is not.
bool is_utf8_or_ascii(std::string_view charset) noexcept;

// `bytes` in UTF-8: a view of `bytes` when they are already, else of `scratch`. Nothing when the charset is
// unknown or the bytes are not of it. Safe from any thread; a charset other than ASCII and UTF-8 takes
// GMime's lock.
std::optional<std::string_view> to_utf8(std::string_view bytes, std::string_view charset,
                                        std::string& scratch);

}  // namespace mailonce::message
