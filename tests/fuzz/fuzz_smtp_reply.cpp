// Replies of an upstream: any split gives the same ones; what was read is printable and is read back the
// same. An EHLO reply among them never confuses Capabilities.
#include <string>
#include <vector>

#include "fuzz.h"
#include "mailonce/smtp/capabilities.h"
#include "mailonce/smtp/reply_parser.h"

using namespace mailonce;
using Status = smtp::ReplyParser::Status;

namespace {

std::vector<smtp::Reply> parse(std::string_view stream, std::size_t piece) {
  smtp::ReplyParser parser;
  std::vector<smtp::Reply> replies;
  while (!stream.empty()) {
    auto input = stream.substr(0, piece);
    stream.remove_prefix(input.size());
    while (!input.empty()) {
      const auto status = parser.feed(input);
      if (status == Status::malformed) return replies;
      if (status == Status::complete) replies.push_back(parser.take());
    }
  }
  return replies;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto stream = fuzz::text(data, size);
  const auto replies = parse(stream, size);
  fuzz::check(parse(stream, 1) == replies);
  for (const auto& reply : replies) {
    fuzz::check(reply.code >= 200 && reply.code < 600);
    for (const char c : reply.text)
      fuzz::check(c == '\n' || c == '\t' || static_cast<unsigned char>(c) >= ' ');
    const auto again = parse(reply.wire(), std::string_view::npos);
    fuzz::check(again.size() == 1 && again.front() == reply);
    (void)smtp::Capabilities::parse(reply);
  }
  return 0;
}
