// A spdlog sink that never makes a message wait for a disk or a terminal: lines are appended to a buffer, and
// a thread of its own writes them, many in one write, at most flush_interval later (at once after a warning).
// The buffer is bounded; a reader that stands still costs log lines, said when it moves again, and never
// mail.
#pragma once
#include <spdlog/sinks/base_sink.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace mailonce::observe {

class BufferedSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  static constexpr std::chrono::milliseconds flush_interval{250};
  static constexpr std::size_t max_buffer_octets = 8U << 20;

  // Empty `file`: standard error. Throws std::runtime_error when the file can not be opened.
  explicit BufferedSink(const std::string& file);
  ~BufferedSink() override;  // writes what is left
  BufferedSink(const BufferedSink&) = delete;
  BufferedSink& operator=(const BufferedSink&) = delete;

  // Returns when everything logged before was written, or could not be.
  void drain();

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override;
  void flush_() override;  // asks for it, does not wait

 private:
  void run();
  void write_out(std::string_view lines);

  int descriptor_;
  bool owned_;  // the descriptor is closed at the end
  bool failing_ = false;

  // base_sink::mutex_ guards what follows.
  std::string buffer_;
  std::size_t lost_lines_ = 0;
  bool urgent_ = false;
  bool writing_ = false;
  bool stopping_ = false;
  std::condition_variable wake_;
  std::condition_variable written_;
  std::thread writer_;
};

}  // namespace mailonce::observe
