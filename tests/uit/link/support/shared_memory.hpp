#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

#include <uit/config.hpp>
#include <uit/support/bytes.hpp>
#include <uit/link/shared_mailbox.hpp>

namespace uit::testing {

/// Memory as two processes would share it: on its own cache lines, with arbitrary contents.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t num_bytes)
      : lines_(std::make_unique<Line[]>((num_bytes + cache_line - 1) / cache_line)), num_bytes_(num_bytes) {
    std::memset(lines_.get(), 0xA5, num_bytes);
  }
  std::byte* Begin() const { return lines_[0].bytes; }
  MutableByteView All() const { return {Begin(), num_bytes_}; }

 private:
  struct alignas(cache_line) Line {
    std::byte bytes[cache_line];
  };
  std::unique_ptr<Line[]> lines_;
  std::size_t num_bytes_;
};

/// During its lifetime, the newest record of a mailbox looks as if the writer were overwriting it: the first half of its
/// bytes is different, and its slot has a later number. Each copy fails after copying those bytes.
class HalfOverwritten {
 public:
  explicit HalfOverwritten(std::byte* mailbox) {
    const auto* const head = reinterpret_cast<const shared_mailbox::Head*>(mailbox);
    slot_ = mailbox + sizeof *head + (head->newest & (head->num_slots - 1)) * head->slot_bytes;
    before_.assign(slot_, slot_ + head->slot_bytes);
    auto* const slot = reinterpret_cast<shared_mailbox::SlotHead*>(slot_);
    slot->number += head->num_slots;
    std::memset(slot_ + sizeof *slot, 0x5C, slot->length / 2);
  }
  HalfOverwritten(const HalfOverwritten&) = delete;
  HalfOverwritten& operator=(const HalfOverwritten&) = delete;
  /// Restores the record.
  ~HalfOverwritten() { std::memcpy(slot_, before_.data(), before_.size()); }

 private:
  std::byte* slot_;
  std::vector<std::byte> before_;
};

}  // namespace uit::testing
