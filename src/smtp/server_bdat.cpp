// CHUNKING (RFC 3030 §2): a body in chunks of announced size. It goes on by DATA, so it must be what DATA can
// carry: lines that end with CRLF, without NUL. The octets of a chunk are taken off whatever is said to it:
// they must never run as commands.
#include "server_state.h"

namespace mailonce::smtp {
namespace {

using Why = Abandon::Why;

// More than this is not read only to be refused.
constexpr std::uint64_t longest_refused_chunk = 4ULL << 30U;

// A chunk of fewer octets that is not the last is a command like any other that brings no message on.
constexpr std::uint64_t least_useful_chunk = 1024;

}  // namespace

void ServerMachine::State::on(Bdat command) {
  if (command.octets > longest_refused_chunk) return close_with("552 5.3.4 Error: message too large");
  in_chunk = true;
  chunk = command;
  chunk_left = command.octets;
  if (!open) {
    chunk_refusal =
        bdat_failed ? "503 5.5.1 Error: the BDAT before was refused" : "503 5.5.1 Error: need MAIL command";
  } else if (envelope.recipients.empty()) {
    chunk_refusal = "554 5.5.1 Error: no valid recipients";
  }
  if (!chunk_refusal.empty()) return;
  if (command.last || command.octets >= least_useful_chunk) --commands;
  if (chunked) return;
  chunked = data_begins = true;
  chunked_text = {};
}

std::optional<ServerAction> ServerMachine::State::next_in_chunk() {
  while (chunk_left != 0) {
    auto& octets = reader.octets();
    if (octets.empty()) return need(NeedInput::Phase::data);
    const auto piece =
        octets.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(chunk_left, octets.size())));
    octets.remove_prefix(piece.size());
    chunk_left -= piece.size();
    if (!chunk_refusal.empty()) continue;
    chunked_text.take(piece);
    const bool wanted = chunked_text.fault() == LineEnds::Fault::none && !refusal &&
                        chunked_text.octets() + chunk_left <= max_octets;
    if (wanted) return DataChunk{piece};
  }
  return end_of_chunk();
}

std::optional<ServerAction> ServerMachine::State::end_of_chunk() {
  if (!chunk_refusal.empty()) {
    in_chunk = false;
    handled = true;
    // That a pipelined group was refused before is no error of the client's, and neither is that all its
    // recipients were.
    const bool error = !open && !bdat_failed;
    const auto reply = std::exchange(chunk_refusal, {});
    if (!error || !one_error_too_many()) say(reply);
    return std::nullopt;
  }
  if (chunk.last) chunked_text.finish();
  // RFC 5321 §4.1.1.4: a message that does not end with CRLF gets one. Here already, so that it is the
  // message that the same mail is by DATA.
  const bool sound =
      chunked_text.fault() == LineEnds::Fault::none && chunked_text.octets() <= max_octets && !refusal;
  if (chunk.last && sound && !chunked_text.line_ended()) {
    constexpr std::string_view line_end = "\r\n";
    chunked_text.take(line_end);
    return DataChunk{line_end};
  }
  in_chunk = false;
  handled = true;
  return chunk.last || chunked_text.octets() > max_octets || refusal ? end_of_chunks() : more_chunks();
}

std::optional<ServerAction> ServerMachine::State::more_chunks() {
  say("250 2.0.0 " + std::to_string(chunk.octets) + " octets received");
  return std::nullopt;
}

ServerAction ServerMachine::State::end_of_chunks() {
  bdat_failed = !chunk.last;
  chunked = false;
  return end_of_message(chunked_text.fault(), chunked_text.octets());
}

}  // namespace mailonce::smtp
