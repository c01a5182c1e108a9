#include "builders.h"

#include <cstdio>
#include <stdexcept>

#include "mailonce/base/encoding.h"

namespace mailonce::message::test {

std::string text_message(std::string_view body, std::string_view more_fields) {
  return "From: shop@example.com\r\nTo: jo@example.org\r\nSubject: Order 1001\r\n" +
         std::string(more_fields) + "\r\n" + std::string(body);
}

std::string multipart_message(std::string_view subtype, const std::vector<std::string>& parts,
                              std::string_view boundary) {
  const std::string delimiter = "--" + std::string(boundary);
  std::string body;
  for (const auto& part : parts) body += delimiter + "\r\n" + part + "\r\n";
  return text_message(body + delimiter + "--\r\n", "Content-Type: multipart/" + std::string(subtype) +
                                                       "; boundary=\"" + std::string(boundary) + "\"\r\n");
}

std::string base64_lines(std::string_view bytes, std::size_t line) {
  const auto base64 = to_base64(bytes);
  std::string out;
  for (std::size_t i = 0; i < base64.size(); i += line) out += base64.substr(i, line) + "\r\n";
  return out;
}

std::string quoted_printable(std::string_view bytes) {
  std::string out;
  std::size_t column = 0;
  for (const char c : bytes) {
    char text[4];
    std::snprintf(text, sizeof text, "=%02X", static_cast<unsigned char>(c));
    out += text;
    column += 3;
    if (column >= 72) {
      out += "=\r\n";
      column = 0;
    }
  }
  return out;
}

std::string attachment(std::string_view octets) {
  return multipart_message("mixed", {"\r\nhi",
                                     "Content-Type: application/octet-stream; name=report\r\n"
                                     "Content-Transfer-Encoding: base64\r\n\r\n" +
                                         base64_lines(octets)});
}

Digest content(std::string_view message) {
  const auto identity = identify(message, "", {});
  if (!identity) throw std::runtime_error("no identity");
  return identity->content;
}

Digest content_attached(std::string_view octets) {
  return content(attachment(octets));
}

std::string changed_at(std::string octets, std::size_t at, unsigned char bits) {
  octets.at(at) = static_cast<char>(octets.at(at) ^ bits);
  return octets;
}

}  // namespace mailonce::message::test
