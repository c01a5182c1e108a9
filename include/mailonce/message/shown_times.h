// Office documents can show the times of their making in their text, by fields that a reader fills in: then
// those times are content.
#pragma once
#include <string>
#include <string_view>

namespace mailonce::message {

class ShownTimes {
 public:
  void begin_part();
  // The part's XML, split anywhere.
  void feed(std::string_view chunk);
  bool found() const { return found_; }

 private:
  std::string window_;  // in lower case: the end of what came before, and the chunk
  bool found_ = false;
};

}  // namespace mailonce::message
