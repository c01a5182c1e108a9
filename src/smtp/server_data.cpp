// The body of a message as the server reads it (RFC 5321 §4.1.1.4). A body that can not be taken is read to
// its true end and answered there, once: an earlier reply would turn the rest of it into commands.
#include "server_state.h"

namespace mailonce::smtp {

using Why = Abandon::Why;

void ServerMachine::State::begin_data() {
  say("354 End data with <CR><LF>.<CR><LF>");
  decoder.reset();
  in_data = data_begins = true;
}

ServerAction ServerMachine::State::next_in_data() {
  // The body continues in what was received behind the DATA line, and in every receive() up to the end.
  while (!reader.octets().empty()) {
    const auto piece = decoder.next(reader.octets());
    if (decoder.ended()) return end_of_data();
    const bool wanted =
        decoder.fault() == DataDecoder::Fault::none && decoder.octets() <= max_octets && !refusal;
    if (wanted && !piece.empty()) return DataChunk{piece};
  }
  return need(NeedInput::Phase::data);
}

ServerAction ServerMachine::State::end_of_data() {
  in_data = false;
  handled = true;
  return end_of_message(decoder.fault(), decoder.octets());
}

ServerAction ServerMachine::State::end_of_message(DataDecoder::Fault fault, std::uint64_t octets) {
  switch (fault) {
    case DataDecoder::Fault::none:
      break;
    case DataDecoder::Fault::bare_cr:
      return abandon_body(Why::bad_data, {550, "5.5.2 Error: bare <CR> received"});
    case DataDecoder::Fault::bare_lf:
      return abandon_body(Why::bad_data, {550, "5.5.2 Error: bare <LF> received"});
    case DataDecoder::Fault::nul:
      return abandon_body(Why::bad_data, {550, "5.5.2 Error: NUL received"});
  }
  if (octets > max_octets) return abandon_body(Why::too_large, {552, "5.3.4 Error: message too large"});
  if (refusal) return abandon_body(Why::refused, *refusal);
  owed = Owed::data;
  return EndOfData{octets};
}

ServerAction ServerMachine::State::abandon_body(Abandon::Why why, const Reply& reply) {
  abandoned = true;
  say(reply);
  return Abandon{why, reply};
}

}  // namespace mailonce::smtp
