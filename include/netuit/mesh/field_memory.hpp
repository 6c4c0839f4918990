#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace netuit {

/// Copies the values in some slots of `values`, counted from `first`, to `to`, one after another.
using PackSlots = void (*)(const std::byte* values, std::size_t first, std::span<const std::uint32_t> slots, std::byte* to);
/// That for values of type T.
template <typename T>
void PackSlotsOf(const std::byte* values, std::size_t first, std::span<const std::uint32_t> slots, std::byte* to) {
  const T* const of = reinterpret_cast<const T*>(values) + first;
  for (const std::uint32_t slot : slots) {
    std::memcpy(to, &of[slot], sizeof(T));
    to += sizeof(T);
  }
}

/// The memory of a published field in one process, in bytes: what moves values between workers need not know their type.
struct FieldMemory {
  std::byte* own = nullptr;    ///< values by slot, as their nodes have written them
  std::byte* shown = nullptr;  ///< values by slot, as neighbours see them; `own`, unless values are shown update by update
  std::size_t slot_bytes = 0;  ///< of a value
  PackSlots pack = nullptr;    ///< for values of its type

  /// Whether values are shown update by update.
  bool IsByUpdate() const { return shown != own; }
  /// Where the shown value of a slot stands.
  std::byte* Shown(std::size_t slot) const { return shown + slot * slot_bytes; }
  /// Where a node's own value stands.
  std::byte* Own(std::size_t slot) const { return own + slot * slot_bytes; }
};

}  // namespace netuit
