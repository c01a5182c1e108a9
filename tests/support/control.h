// The control channel of the program scripted-upstream: a TCP port on loopback, a command a line, an answer
// of one line of JSON. {"ok":false,"error":"…"} when a command is not understood.
//
//   arm FAULT             schedules a fault (fault.h)
//   clear                 forgets faults
//   go                    lets held sessions go on
//   accepted [SERIAL]     what was accepted after SERIAL: {"ok":true,"accepted":[{…}]}
//   commands              every command line received
//   stats                 {"ok":true,"connections":1,…}
//   wait COUNTER N TIME   answers when the counter is N or more, {"ok":true}; after TIME {"ok":false}
//   reset                 forgets what was accepted, counters and faults
//   listen on|off         takes or refuses connections
//   drop                  cuts all connections
#pragma once
#include <cstdint>
#include <memory>
#include <string>

namespace mailonce::test {

class ScriptedUpstream;

class Control {
 public:
  Control(ScriptedUpstream& upstream, const std::string& address, std::uint16_t port);
  ~Control();
  std::uint16_t port() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mailonce::test
