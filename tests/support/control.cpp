#include "support/control.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "support/scripted_upstream.h"
#include "support/text.h"

namespace mailonce::test {

namespace asio = boost::asio;
using asio::ip::tcp;
using std::chrono::milliseconds;

namespace {

constexpr auto token = asio::as_tuple(asio::use_awaitable);

struct Json {
  std::string text;
  void field(std::string_view name, std::string_view raw) {
    if (text.size() > 1) text += ',';
    text += json_string(name) + ":" + std::string(raw);
  }
};

std::string list(const std::vector<std::string>& items) {
  std::string text = "[";
  for (const auto& item : items) text += (text.size() > 1 ? "," : "") + json_string(item);
  return text + "]";
}

std::string to_json(const Accepted& message) {
  Json json{"{"};
  json.field("serial", std::to_string(message.serial));
  json.field("connection", std::to_string(message.connection));
  json.field("transaction", std::to_string(message.transaction));
  json.field("sender", json_string(message.sender));
  json.field("parameters", json_string(message.mail_parameters));
  json.field("recipients", list(message.recipients));
  json.field("sha256", json_string(message.sha256));
  json.field("octets", std::to_string(message.octets));
  json.field("reply", json_string(message.reply));
  json.field("subject", json_string(message.subject));
  json.field("message_id", json_string(message.message_id));
  json.field("test_id", json_string(message.test_id));
  json.field("user", json_string(message.user));
  json.field("tls", message.tls ? "true" : "false");
  return json.text + "}";
}

std::string to_json(const Stats& stats) {
  Json json{"{"};
  json.field("ok", "true");
  for (const auto& [name, counter] : counters()) json.field(name, std::to_string(stats.*counter));
  return json.text + "}";
}

struct Condition {
  std::uint64_t Stats::*counter;
  std::uint64_t value;
  milliseconds at_most;
};

Condition parse_condition(std::istringstream& words) {
  std::string name, limit;
  std::uint64_t value = 0;
  words >> name >> value >> limit;
  for (const auto& [known, counter] : counters())
    if (known == name) return {counter, value, Fault::parse("dot delay " + limit).time};
  throw std::invalid_argument("no such counter: " + name);
}

std::string perform(ScriptedUpstream& upstream, const std::string& verb, std::istringstream& words) {
  std::string rest;
  std::getline(words >> std::ws, rest);
  if (verb == "arm")
    upstream.arm(rest);
  else if (verb == "clear")
    upstream.clear_faults();
  else if (verb == "go")
    upstream.go();
  else if (verb == "reset")
    upstream.reset();
  else if (verb == "drop")
    upstream.drop_connections();
  else if (verb == "listen" && rest == "off")
    upstream.stop_listening();
  else if (verb == "listen" && rest == "on")
    upstream.listen_again();
  else if (verb == "stats")
    return to_json(upstream.stats());
  else if (verb == "commands")
    return "{\"ok\":true,\"commands\":" + list(upstream.commands()) + "}";
  else if (verb == "accepted") {
    std::string text;
    for (const auto& message : upstream.accepted(rest.empty() ? 0 : std::stoull(rest)))
      text += (text.empty() ? "" : ",") + to_json(message);
    return "{\"ok\":true,\"accepted\":[" + text + "]}";
  } else {
    throw std::invalid_argument("no such command: " + verb);
  }
  return "{\"ok\":true}";
}

asio::awaitable<std::string> await_condition(ScriptedUpstream& upstream, const Condition& condition) {
  auto executor = co_await asio::this_coro::executor;
  asio::steady_timer timer(executor);
  auto until = std::chrono::steady_clock::now() + condition.at_most;
  bool met = upstream.stats().*condition.counter >= condition.value;
  while (!met && std::chrono::steady_clock::now() < until) {
    timer.expires_after(milliseconds(2));
    [[maybe_unused]] auto [error] = co_await timer.async_wait(token);
    met = upstream.stats().*condition.counter >= condition.value;
  }
  co_return met ? "{\"ok\":true}" : "{\"ok\":false,\"error\":\"not in time\"}";
}

asio::awaitable<std::string> answer_to(ScriptedUpstream& upstream, const std::string& line) {
  std::istringstream words(line);
  std::string verb, failure;
  std::optional<Condition> condition;
  words >> verb;
  try {
    if (verb != "wait") co_return perform(upstream, verb, words);
    condition = parse_condition(words);
  } catch (const std::exception& error) {
    failure = error.what();
  }
  if (!failure.empty()) co_return "{\"ok\":false,\"error\":" + json_string(failure) + "}";
  co_return co_await await_condition(upstream, *condition);
}

asio::awaitable<void> converse(ScriptedUpstream& upstream, tcp::socket socket) {
  std::string buffer;
  auto input = asio::dynamic_buffer(buffer);
  while (true) {
    auto [error, length] = co_await asio::async_read_until(socket, input, '\n', token);
    if (error) co_return;
    std::string line = buffer.substr(0, length - 1);
    buffer.erase(0, length);
    if (line.ends_with('\r')) line.pop_back();
    std::string answer = co_await answer_to(upstream, line);
    answer += '\n';
    auto output = asio::buffer(answer);
    auto [failure, written] = co_await asio::async_write(socket, output, token);
    if (failure) co_return;
  }
}

asio::awaitable<void> accept(ScriptedUpstream& upstream, tcp::acceptor& acceptor) {
  while (true) {
    auto [error, socket] = co_await acceptor.async_accept(token);
    if (error) co_return;
    auto executor = acceptor.get_executor();
    asio::co_spawn(executor, converse(upstream, std::move(socket)), asio::detached);
  }
}

}  // namespace

struct Control::State {
  State(ScriptedUpstream& upstream, const std::string& address, std::uint16_t port)
      : acceptor(context, tcp::endpoint(asio::ip::make_address(address), port)) {
    asio::co_spawn(context, accept(upstream, acceptor), asio::detached);
    thread = std::thread([this] { context.run(); });
  }
  ~State() {
    context.stop();
    thread.join();
  }
  asio::io_context context{1};
  tcp::acceptor acceptor;
  std::thread thread;
};

Control::Control(ScriptedUpstream& upstream, const std::string& address, std::uint16_t port)
    : state_(std::make_unique<State>(upstream, address, port)) {}

Control::~Control() = default;

std::uint16_t Control::port() const noexcept {
  return state_->acceptor.local_endpoint().port();
}

}  // namespace mailonce::test
