#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace uit {

/// A word of memory that two processes share: a length, a position, a number, or eight bytes of a record.
///
/// A peer can store anything in that memory. So each side reads a word once, checks it and uses its own copy. Then neither
/// side accesses other memory, whatever the peer stores and whenever.
using SharedWord = std::uint64_t;
static_assert(std::atomic_ref<SharedWord>::is_always_lock_free, "other processes would not see a lock");

/// Refers to a word that both sides use. `AtomicRef` is std::atomic_ref, or that of a model that explores every schedule.
template <template <typename> class AtomicRef>
AtomicRef<SharedWord> WordAt(SharedWord& word) {
  return AtomicRef<SharedWord>{word};
}
/// The same, at an address that is aligned for a word.
template <template <typename> class AtomicRef>
AtomicRef<SharedWord> WordAt(std::byte* place) {
  return WordAt<AtomicRef>(*reinterpret_cast<SharedWord*>(place));
}

}  // namespace uit
