// One relay over a scripted upstream and window; send() is a whole transaction. Afterwards nothing may be
// held.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>

#include "mailonce/relay/transaction.h"
#include "scripted_upstream.h"
#include "scripted_window.h"

namespace mailonce::relay::test {

inline std::string mail(const std::string& text, const std::string& message_id = "<first@app.example>",
                        const std::string& more_fields = "") {
  return "From: shop@example.com\r\nTo: a@example.net\r\nSubject: Order 1001\r\nMessage-ID: " + message_id +
         "\r\n" + more_fields + "\r\n" + text + "\r\n";
}

class RelayTest : public testing::Test {
 protected:
  struct Result_ {
    std::vector<smtp::Reply> recipients;
    smtp::Reply final_reply;  // code 0: no recipient stood, so no data
  };

  Result_ send(const std::string& content, const std::vector<std::string>& recipients) {
    const auto before = window.held;
    Result_ result;
    boost::asio::io_context context;
    Upstreams all{&upstream};
    for (auto& each : others) all.push_back(&each);
    Relay relay(options, window, all, log, pool);
    auto work = [&]() { return transaction(relay, content, recipients, result); };
    boost::asio::co_spawn(context, work, [](std::exception_ptr failure) {
      if (failure) std::rethrow_exception(failure);
    });
    context.run();
    EXPECT_TRUE(std::includes(before.begin(), before.end(), window.held.begin(), window.held.end()))
        << "a claim was not ended";
    return result;
  }

  Options options;
  std::function<bool()> client_left;
  ScriptedUpstream upstream;
  std::deque<ScriptedUpstream> others;  // behind it
  ScriptedWindow window;
  observe::Log log{quiet()};
  boost::asio::thread_pool pool{1};

 private:
  static observe::LogOptions quiet() {
    observe::LogOptions quiet;
    quiet.file = "/dev/null";
    return quiet;
  }

  boost::asio::awaitable<void> transaction(Relay& relay, const std::string& content,
                                           const std::vector<std::string>& recipients, Result_& result) {
    Transaction transaction(relay, Origin{"s1", "127.0.0.1", client_left});
    smtp::Sender sender{smtp::Address::parse_reverse_path("<shop@example.com>").value(), {}, {}};
    std::vector<smtp::Recipient> asked;
    for (const auto& address : recipients) {
      asked.push_back({smtp::Address::parse_forward_path("<" + address + ">").value()});
    }
    auto replies = co_await transaction.recipients(sender, asked);
    result.recipients = replies;
    bool any = false;
    for (const auto& reply : replies) any = any || reply.completed();
    if (!any) {
      transaction.abandon();
      co_return;
    }
    Blob blob;
    EXPECT_TRUE(blob.append(content));
    auto reply = co_await transaction.deliver(blob, milliseconds(0));
    result.final_reply = reply;
  }
};

}  // namespace mailonce::relay::test
