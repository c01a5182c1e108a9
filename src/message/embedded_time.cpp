#include "mailonce/message/embedded_time.h"

#include <cstdint>
#include <string_view>

namespace mailonce::message {
namespace {

constexpr std::size_t directory_begin = 12;
constexpr std::size_t record_octets = 16;
constexpr std::size_t head_octets = 54;
constexpr std::size_t adjustment_at = 8;  // in the head table
constexpr std::size_t magic_at = 12;
constexpr std::size_t modified_at = 28;
constexpr std::size_t modified_octets = 8;

std::uint32_t u32(std::string_view octets, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = at; i < at + 4; ++i)
    value = value << 8U | (i < octets.size() ? static_cast<unsigned char>(octets[i]) : 0U);
  return value;
}

std::uint32_t sum(std::string_view octets) {
  std::uint32_t total = 0;
  for (std::size_t at = 0; at < octets.size(); at += 4) total += u32(octets, at);
  return total;
}

}  // namespace

// OpenType 1.9, "Organization of an OpenType font", "head".
std::optional<std::string> remove_font_time(std::string& font) {
  const std::string_view all = font;
  if (all.size() < directory_begin) return std::nullopt;
  if (u32(all, 0) != 0x00010000U && all.substr(0, 4) != "true" && all.substr(0, 4) != "OTTO")
    return std::nullopt;
  const std::size_t tables = u32(all, 4) >> 16U;
  if (all.size() < directory_begin + tables * record_octets) return std::nullopt;
  std::size_t record = 0;
  for (std::size_t at = directory_begin; at < directory_begin + tables * record_octets; at += record_octets) {
    if (all.substr(at, 4) != "head") continue;
    if (record != 0) return std::nullopt;
    record = at;
  }
  if (record == 0) return std::nullopt;
  const std::size_t head = u32(all, record + 8);
  if (u32(all, record + 12) != head_octets || head < directory_begin + tables * record_octets ||
      head % 4 != 0 || head > all.size() || all.size() - head < head_octets ||
      u32(all, head + magic_at) != 0x5F0F3CF5U)
    return std::nullopt;
  const auto adjustment = u32(all, head + adjustment_at);
  if (u32(all, record + 4) != sum(all.substr(head, head_octets)) - adjustment) return std::nullopt;
  if (adjustment != 0xB1B0AFBAU - (sum(all) - adjustment)) return std::nullopt;
  const auto modified = std::uint64_t{u32(all, head + modified_at)} << 32U | u32(all, head + modified_at + 4);
  font.replace(record + 4, 4, 4, '\0');
  font.replace(head + adjustment_at, 4, 4, '\0');
  font.replace(head + modified_at, modified_octets, modified_octets, '\0');
  return std::to_string(modified) + " s since 1904";
}

std::optional<std::string> remove_profile_time(std::string& profile) {
  constexpr std::size_t header_octets = 128;
  constexpr std::size_t time_at = 24;
  constexpr std::size_t time_octets = 12;
  const std::string_view all = profile;
  if (all.size() < header_octets || u32(all, 0) != all.size() || all.substr(36, 4) != "acsp")
    return std::nullopt;
  std::string time;
  // Year, month, day, hour, minute, second.
  constexpr std::uint32_t least[] = {1900, 1, 1, 0, 0, 0};
  constexpr std::uint32_t most[] = {2200, 12, 31, 23, 59, 60};
  for (std::size_t i = 0; i < time_octets / 2; ++i) {
    const auto number = u32(all, time_at + 2 * i) >> 16U;
    if (number < least[i] || number > most[i]) return std::nullopt;
    time += (i == 0 ? "" : " ") + std::to_string(number);
  }
  profile.replace(time_at, time_octets, time_octets, '\0');
  return time;
}

}  // namespace mailonce::message
