// Times and made-up identifiers in documents: which text is one, and XML without them.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mailonce/message/document.h"

namespace mailonce::message {

// "2026-12-02T16:22:13Z", with a fraction or another zone or none (ISO 8601, W3C-DTF). A day alone is none:
// people write those.
bool is_date_time(std::string_view text) noexcept;
// "D:20261202162213+01'00'" (ISO 32000-1 §7.9.4).
bool is_pdf_date(std::string_view text) noexcept;
// A UUID, with or without "uuid:", "urn:uuid:", "xmp.did:", "xmp.iid:" before it.
bool is_uuid(std::string_view text) noexcept;

// Elements and attributes, by name with prefix; <meta property="…"> and <config:config-item config:name="…">
// go by that property.
struct TimeNames {
  std::span<const std::string_view> times;        // their text counts unless it is a date with time
  std::span<const std::string_view> identifiers;  // their text counts unless it is a UUID
  std::span<const std::string_view> numbers;      // their text counts unless it is a number
};

// `xml` with 0xFF (which no XML text contains) for each such value, in `scratch`; as it is when there is
// none, or when it holds what only a whole XML parser could read: comments, CDATA, a document type, another
// encoding.
std::string_view without_times(std::string_view xml, const TimeNames& names, std::string& scratch,
                               std::vector<DocumentTime>& left_out);

}  // namespace mailonce::message
