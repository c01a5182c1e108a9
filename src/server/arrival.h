// A connection as it is handed from the acceptor to the worker that will serve it.
#pragma once
#include <memory>

#include "admission.h"
#include "mailonce/net/stream.h"
#include "mailonce/server/door.h"

namespace mailonce::server {

struct Arrival {
  net::Socket socket;
  std::shared_ptr<const Door> door;
  Client peer;         // at the other end of the socket
  bool proxy = false;  // it must say first whose connection it passes on
  Admission::Place place;
};

}  // namespace mailonce::server
