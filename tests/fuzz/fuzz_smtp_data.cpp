// Message data: any split decodes to the same; what decodes without a fault, encoded again, is what arrived;
// nothing that decodes without a fault holds a bare CR, a bare LF or a NUL.
#include <string>
#include <vector>

#include "fuzz.h"
#include "mailonce/smtp/data_codec.h"

using namespace mailonce;
using Fault = smtp::DataDecoder::Fault;

namespace {

struct Decoded {
  std::string message;
  bool ended = false;
  Fault fault = Fault::none;
  std::size_t taken = 0;
  bool operator==(const Decoded&) const = default;
};

Decoded decode(std::string_view wire, std::size_t piece) {
  smtp::DataDecoder decoder;
  Decoded result;
  for (auto rest = wire; !rest.empty() && !decoder.ended();) {
    auto input = rest.substr(0, piece);
    const auto offered = input.size();
    while (!input.empty() && !decoder.ended()) result.message += decoder.next(input);
    rest.remove_prefix(offered - input.size());
    result.taken = wire.size() - rest.size();
  }
  fuzz::check(decoder.octets() == result.message.size());
  result.ended = decoder.ended();
  result.fault = decoder.fault();
  return result;
}

std::string encode(std::string_view message, std::size_t piece) {
  smtp::DataEncoder encoder;
  std::vector<std::string_view> pieces;
  for (; !message.empty(); message.remove_prefix(std::min(piece, message.size())))
    encoder.encode(message.substr(0, piece), pieces);
  std::string wire;
  for (const auto part : pieces) wire += part;
  return wire.append(encoder.finish());
}

bool has_stray_octets(std::string_view message) {
  for (std::size_t i = 0; i < message.size(); ++i) {
    if (message[i] == '\0') return true;
    if (message[i] == '\n' && (i == 0 || message[i - 1] != '\r')) return true;
    if (message[i] == '\r' && (i + 1 == message.size() || message[i + 1] != '\n')) return true;
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto wire = fuzz::text(data, size);
  const auto decoded = decode(wire, wire.size());
  fuzz::check(decode(wire, 1) == decoded && decode(wire, 3) == decoded);
  const auto encoded = encode(decoded.message, std::string_view::npos);
  fuzz::check(encode(decoded.message, 1) == encoded);
  if (decoded.ended && decoded.fault == Fault::none) {
    fuzz::check(!has_stray_octets(decoded.message));
    const auto again = decode(encoded, encoded.size());
    fuzz::check(again.ended && again.message == decoded.message && again.taken == encoded.size());
  }
  return 0;
}
