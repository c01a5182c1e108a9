// One SMTP reply (RFC 5321 §4.2): a three-digit code and one or more lines of text.
#pragma once
#include <string>
#include <string_view>

namespace mailonce::smtp {

struct Reply {
  int code = 0;
  // Lines separated by '\n', without code and line end; an enhanced status code (RFC 3463) is part of the
  // text. No control octets but tab: what comes from a peer is cleaned before it becomes a Reply.
  std::string text;

  bool completed() const noexcept { return code >= 200 && code < 300; }
  bool intermediate() const noexcept { return code >= 300 && code < 400; }
  bool transient() const noexcept { return code >= 400 && code < 500; }
  bool permanent() const noexcept { return code >= 500 && code < 600; }
  bool operator==(const Reply&) const = default;

  // Appends the wire form, "250-first\r\n250 last\r\n".
  void append_to(std::string& out) const;
  std::string wire() const;
  // For logs: "250 first / last".
  std::string summary() const;
};

}  // namespace mailonce::smtp
