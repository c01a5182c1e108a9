// A proxy's header: octet by octet it comes to what it comes to in one segment, takes nothing that stands
// behind it, and keeps no view of what it was given.
#include <memory>

#include "fuzz.h"
#include "mailonce/net/proxy_header.h"

using namespace mailonce;
using State = net::ProxyHeader::State;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = fuzz::text(data, size);
  net::ProxyHeader whole;
  auto left = text;
  const auto state = whole.receive(left);
  fuzz::check((state == State::malformed) == !whole.reason().empty());
  if (state == State::need_more) fuzz::check(left.empty());

  net::ProxyHeader dripped;
  auto dripped_state = State::need_more;
  std::size_t taken = 0;
  for (; taken < text.size() && dripped_state == State::need_more; ++taken) {
    const auto octet = std::make_unique<char>(text[taken]);
    std::string_view view(octet.get(), 1);
    dripped_state = dripped.receive(view);
    fuzz::check(view.empty());
  }
  fuzz::check(dripped_state == state);
  if (state != State::complete) return 0;
  fuzz::check(taken == text.size() - left.size() && whole.source() == dripped.source());
  fuzz::check(taken <= 16 + net::ProxyHeader::longest_block);
  return 0;
}
