#include "buffered_sink.h"

#include <fcntl.h>
#include <poll.h>
#include <spdlog/details/log_msg.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace mailonce::observe {
namespace {

int open_log(const std::string& file) {
  if (file.empty()) return STDERR_FILENO;
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
  if (descriptor < 0) throw std::runtime_error("log file " + file + ": " + std::strerror(errno));
  return descriptor;
}

// All of it. False with errno: the rest is lost.
bool write_all(int descriptor, std::string_view octets) {
  while (!octets.empty()) {
    const auto n = ::write(descriptor, octets.data(), octets.size());
    if (n >= 0) {
      octets.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EAGAIN) {
      pollfd ready{descriptor, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace

BufferedSink::BufferedSink(const std::string& file) : descriptor_(open_log(file)), owned_(!file.empty()) {
  // Signals are for the threads that serve.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  writer_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

BufferedSink::~BufferedSink() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  writer_.join();
  if (owned_) ::close(descriptor_);
}

void BufferedSink::sink_it_(const spdlog::details::log_msg& message) {
  spdlog::memory_buf_t line;
  formatter_->format(message, line);
  if (buffer_.size() + line.size() > max_buffer_octets) {
    ++lost_lines_;
    return;
  }
  const bool first = buffer_.empty();
  buffer_.append(line.data(), line.size());
  urgent_ = urgent_ || message.level >= spdlog::level::warn || buffer_.size() > max_buffer_octets / 8;
  // The writer waits for the first line without limit, then for the interval: one wake-up an interval.
  if (first || urgent_) wake_.notify_one();
}

void BufferedSink::flush_() {
  urgent_ = true;
  wake_.notify_one();
}

void BufferedSink::drain() {
  std::unique_lock lock(mutex_);
  flush_();
  written_.wait(lock, [&] { return buffer_.empty() && !writing_; });
}

void BufferedSink::run() {
  std::string lines;
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return stopping_ || !buffer_.empty(); });
    wake_.wait_for(lock, flush_interval, [&] { return stopping_ || urgent_; });
    if (buffer_.empty()) return;  // stopping
    lines.clear();
    std::swap(lines, buffer_);
    const auto lost = std::exchange(lost_lines_, 0);
    urgent_ = false;
    writing_ = true;
    lock.unlock();
    write_out(lines);
    if (lost > 0) {
      const auto note = "mailonce: the log could not keep up: " + std::to_string(lost) + " lines lost\n";
      write_all(STDERR_FILENO, note);
    }
    lock.lock();
    writing_ = false;
    written_.notify_all();
  }
}

void BufferedSink::write_out(std::string_view lines) {
  if (write_all(descriptor_, lines)) {
    failing_ = false;
  } else if (!std::exchange(failing_, true) && owned_) {
    const auto note = std::string("mailonce: log file: ") + std::strerror(errno) +
                      "; lines are lost until it can be written\n";
    write_all(STDERR_FILENO, note);
  }
}

}  // namespace mailonce::observe
