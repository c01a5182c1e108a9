#include "format.h"

#include <hiredis/hiredis.h>

#include <array>
#include <new>
#include <vector>

namespace mailonce::redis {

void append_command(std::string& out, std::span<const std::string_view> words) {
  std::array<const char*, 24> few_texts;
  std::array<std::size_t, 24> few_sizes;
  std::vector<const char*> many_texts;
  std::vector<std::size_t> many_sizes;
  const char** texts = few_texts.data();
  std::size_t* sizes = few_sizes.data();
  if (words.size() > few_texts.size()) {
    many_texts.resize(words.size());
    many_sizes.resize(words.size());
    texts = many_texts.data();
    sizes = many_sizes.data();
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    texts[i] = words[i].data();
    sizes[i] = words[i].size();
  }
  char* formatted = nullptr;
  const int octets = redisFormatCommandArgv(&formatted, static_cast<int>(words.size()), texts, sizes);
  if (octets < 0) throw std::bad_alloc();
  out.append(formatted, static_cast<std::size_t>(octets));
  redisFreeCommand(formatted);
}

}  // namespace mailonce::redis
