// One server, and the connection to it: made at the first command, and again after it was lost.
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <memory>
#include <random>
#include <vector>

#include "connection.h"

namespace mailonce::redis {

class Node : public std::enable_shared_from_this<Node> {
 public:
  // At `address`; or, with a locator, wherever it finds the master at each connection.
  Node(boost::asio::any_io_executor executor, std::shared_ptr<const Options> options, Address address,
       std::shared_ptr<Locator> locator = nullptr);

  // What cannot be queued because a connection failed a moment ago waits, if its deadline is later than the
  // pause.
  awaitable<Result<Reply>> command(Call call);
  // Several in one write.
  awaitable<Result<std::vector<Reply>>> batch(std::vector<Client::Words> commands,
                                              SteadyClock::time_point deadline);
  const Address& address() const noexcept { return address_; }
  // Will a command with that deadline be tried? Else a connection failed a moment ago, and it fails at once.
  bool worth_trying(SteadyClock::time_point deadline) const noexcept {
    return !stopped_ && not_before_ < deadline;
  }
  void retire();  // what is queued is answered, then the connection ends
  bool closed() const noexcept { return stopped_; }
  void close();  // commands still pending fail with Errc::closed, all later ones too

 private:
  // The connection to queue on, or why there is none now.
  Result<Connection*> current(SteadyClock::time_point deadline);
  awaitable<void> pause_over();
  static awaitable<void> serve(std::shared_ptr<Node> self, std::shared_ptr<Connection> connection,
                               SteadyClock::time_point until);
  void back_off(error_code why);

  boost::asio::any_io_executor executor_;
  std::shared_ptr<const Options> options_;
  Address address_;
  std::shared_ptr<Locator> locator_;
  std::shared_ptr<Connection> connection_;
  milliseconds pause_;
  SteadyClock::time_point not_before_{};
  error_code last_failure_;
  std::minstd_rand jitter_{std::random_device{}()};
  bool stopped_ = false;
  bool retired_ = false;
};

// One command on a connection of its own, which ends with it.
awaitable<Result<Reply>> inquire(boost::asio::any_io_executor executor,
                                 std::shared_ptr<const Options> options, Address address, Client::Words words,
                                 milliseconds at_most);

}  // namespace mailonce::redis
