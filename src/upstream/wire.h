// One connection to the upstream as octets: commands out, replies in, each wait with its limit. It knows no
// SMTP beyond the form of a reply. After an error the connection is of no use.
#pragma once
#include <array>
#include <span>
#include <string_view>

#include "mailonce/net/stream.h"
#include "mailonce/smtp/reply_parser.h"
#include "mailonce/upstream/upstream.h"

namespace mailonce::upstream {

class Wire {
 public:
  explicit Wire(net::Stream stream) : stream_(std::move(stream)) {}
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  // Errors of both: Errc::closed, timed_out, malformed_reply.
  awaitable<Result<>> write(std::string_view octets, milliseconds at_most);
  awaitable<Result<>> write(std::span<const std::string_view> pieces, milliseconds at_most,
                            std::size_t* written = nullptr);
  awaitable<Result<smtp::Reply>> read_reply(milliseconds at_most);

  // Nothing of what was read waits for a question: said by the peer unasked. Costs nothing.
  bool nothing_unasked() const noexcept { return unread_.empty() && parser_.empty(); }
  // The same of what was not read yet, and the peer is still there. One system call.
  bool quiet() { return nothing_unasked() && !stream_.readable_now(); }
  net::Stream& stream() noexcept { return stream_; }

 private:
  net::Stream stream_;
  smtp::ReplyParser parser_;
  std::array<char, 4096> buffer_;
  std::string_view unread_;  // in buffer_
};

// What became of a read or write, in the words of this module.
Errc to_errc(const error_code& error) noexcept;

}  // namespace mailonce::upstream
