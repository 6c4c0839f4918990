#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace netuit {

/// The memory of a published field in one process, in bytes: what moves values between workers need not know their type.
struct FieldMemory {
  std::byte* own = nullptr;    ///< values by slot, as their nodes have written them
  std::byte* shown = nullptr;  ///< values by slot, as neighbours see them; `own`, unless values are shown update by update
  std::size_t slot_bytes = 0;  ///< of a value
  /// Copies the values in some slots of `values`, counted from `first`, to `to`, one after another.
  void (*pack)(const std::byte* values, std::size_t first, std::span<const std::uint32_t> slots, std::byte* to) = nullptr;

  /// Whether values are shown update by update.
  bool IsByUpdate() const { return shown != own; }
  /// Where the shown value of a slot stands.
  std::byte* Shown(std::size_t slot) const { return shown + slot * slot_bytes; }
  /// Where a node's own value stands.
  std::byte* Own(std::size_t slot) const { return own + slot * slot_bytes; }
};

}  // namespace netuit
