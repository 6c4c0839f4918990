#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace netuit {

/// Copies the values in some slots of `values`, counted from `first`, one after another to `to`.
using PackSlots = void (*)(const std::byte* values, std::size_t first, std::span<const std::uint32_t> slots, std::byte* to);
/// Copies values of type T; see PackSlots.
template <typename T>
void PackSlotsOf(const std::byte* values, std::size_t first, std::span<const std::uint32_t> slots, std::byte* to) {
  const T* const of = reinterpret_cast<const T*>(values) + first;
  for (const std::uint32_t slot : slots) {
    std::memcpy(to, &of[slot], sizeof(T));
    to += sizeof(T);
  }
}

/// The memory of a published field in one process, as bytes. Code that moves values between workers does not need their type.
struct FieldMemory {
  std::byte* own = nullptr;    ///< values by slot, as their nodes wrote them
  std::byte* shown = nullptr;  ///< values by slot, as neighbours see them; `own`, unless those are of the previous update
  std::size_t slot_bytes = 0;  ///< size of a value
  PackSlots pack = nullptr;    ///< copies values of this type

  /// Whether neighbours see the values of the previous update.
  bool IsByUpdate() const { return shown != own; }
  /// Returns the address of a slot's value as neighbours see it.
  std::byte* Shown(std::size_t slot) const { return shown + slot * slot_bytes; }
  /// Returns the address of a slot's value as its node wrote it.
  std::byte* Own(std::size_t slot) const { return own + slot * slot_bytes; }
};

}  // namespace netuit
