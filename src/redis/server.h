// Where commands go: what Client is made of, one class a topology. All are used on one thread.
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string_view>
#include <vector>

#include "node.h"

namespace mailonce::redis {

class Server {
 public:
  virtual ~Server() = default;
  // `key`: one of the command's.
  virtual awaitable<Result<Reply>> command(Call call, std::string_view key) = 0;
  virtual awaitable<Result<std::vector<Address>>> masters(SteadyClock::time_point deadline) = 0;
  virtual std::shared_ptr<Node> node(const Address& master) = 0;
  // Commands still pending fail with Errc::closed, all later ones too.
  virtual void close() = 0;
};

// Is it worth trying again before the deadline? A try with hardly any time left would only spoil the
// connection for those that share it.
bool time_for_more(SteadyClock::time_point deadline, const Options& options) noexcept;

std::shared_ptr<Server> make_single(boost::asio::any_io_executor executor,
                                    std::shared_ptr<const Options> options);
std::shared_ptr<Server> make_sentinel(boost::asio::any_io_executor executor,
                                      std::shared_ptr<const Options> options);
std::shared_ptr<Server> make_cluster(boost::asio::any_io_executor executor,
                                     std::shared_ptr<const Options> options);

}  // namespace mailonce::redis
