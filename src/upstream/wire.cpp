#include "wire.h"

#include <boost/asio/error.hpp>

namespace mailonce::upstream {

Errc to_errc(const error_code& error) noexcept {
  return error == boost::asio::error::timed_out ? Errc::timed_out : Errc::closed;
}

awaitable<Result<>> Wire::write(std::string_view octets, milliseconds at_most) {
  const std::array<std::string_view, 1> pieces{octets};
  co_return co_await write(pieces, at_most);
}

awaitable<Result<>> Wire::write(std::span<const std::string_view> pieces, milliseconds at_most,
                                std::size_t* written) {
  stream_.expires_after(at_most);
  auto done = co_await stream_.write(pieces, written);
  if (!done) co_return to_errc(done.error());
  co_return Result<>();
}

awaitable<Result<smtp::Reply>> Wire::read_reply(milliseconds at_most) {
  stream_.expires_after(at_most);
  for (;;) {
    switch (parser_.feed(unread_)) {
      case smtp::ReplyParser::Status::complete:
        co_return parser_.take();
      case smtp::ReplyParser::Status::malformed:
        co_return Errc::malformed_reply;
      case smtp::ReplyParser::Status::need_more:
        break;
    }
    auto octets = co_await stream_.read_some(buffer_);
    if (!octets) co_return to_errc(octets.error());
    unread_ = {buffer_.data(), *octets};
  }
}

}  // namespace mailonce::upstream
