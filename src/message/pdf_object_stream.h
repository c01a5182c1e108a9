// Whether the objects of an object stream (ISO 32000-1 §7.5.7) stand one behind the other, each within its
// own octets. qpdf reads each from its offset as far as it goes: overlapping ones would cost time in the
// square of their number.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

namespace mailonce::message {

// The numbers of its `count` objects in their order; nothing when there is any doubt. `first` is the offset
// of the first object.
std::optional<std::vector<int>> read_object_stream(std::string_view data, std::size_t count,
                                                   std::size_t first);

}  // namespace mailonce::message
