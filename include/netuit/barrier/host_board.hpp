#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>

#include <netuit/barrier/vote.hpp>
#include <uit/config.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/bytes.hpp>

namespace netuit {

/// Shared memory in which one process posts its votes at barriers, for the other processes of its host.
///
/// Only the owner writes; the others read. It posts the number `epoch` of the barrier to which it has come, and its vote. Odd
/// and even barriers use separate cache lines. A line is rewritten two barriers later. By then every process has come to the
/// barrier in between, so it has read the line.
///
/// `AtomicRef` is std::atomic_ref, or a model of it that explores every schedule. A board carries the first `num_reduced` numbers of
/// votes, so that a model can have fewer words.
template <template <typename> class AtomicRef, std::size_t num_reduced = max_reductions>
class BasicHostBoard {
 public:
  /// Makes an empty board at the beginning of `memory`, which must be aligned to a cache line. The owner calls it before the
  /// others read.
  static void Create(uit::MutableByteView memory) {
    UIT_ASSERT(memory.size() >= sizeof(Lines), "the memory for a board must have NumBytes() bytes");
    new (memory.data()) Lines{};
  }
  /// Returns the size of a board in bytes.
  static constexpr std::size_t NumBytes() { return sizeof(Lines); }
  /// Refers to a board that this or another process has made.
  explicit BasicHostBoard(std::byte* memory) : lines_(reinterpret_cast<Lines*>(memory)) {}

  /// Posts the vote for barrier number `epoch`. Owner only.
  void Post(std::uint64_t epoch, const Vote& vote) {
    Line& line = lines_->of[epoch % 2];
    Shared{line.reason}.store(std::uint64_t{vote.stop} << 32U | vote.is_pending, std::memory_order_relaxed);
    Shared{line.next}.store(vote.next, std::memory_order_relaxed);
    for (std::size_t i = 0; i < num_reduced; ++i) Shared{line.reduced[i]}.store(vote.reduced[i], std::memory_order_relaxed);
    // Pairs with the acquire in Read.
    Shared{line.epoch}.store(epoch, std::memory_order_release);
  }
  /// Returns the owner's vote for barrier number `epoch`, or nothing if it has not come there. Never waits.
  std::optional<Vote> Read(std::uint64_t epoch) const {
    Line& line = lines_->of[epoch % 2];
    // Pairs with the release in Post.
    if (Shared{line.epoch}.load(std::memory_order_acquire) != epoch) return std::nullopt;
    const std::uint64_t reason = Shared{line.reason}.load(std::memory_order_relaxed);
    Vote vote{.stop = static_cast<std::uint32_t>(reason >> 32U),
              .is_pending = static_cast<std::uint32_t>(reason),
              .next = Shared{line.next}.load(std::memory_order_relaxed)};
    for (std::size_t i = 0; i < num_reduced; ++i) vote.reduced[i] = Shared{line.reduced[i]}.load(std::memory_order_relaxed);
    return vote;
  }

  /// Posts that the owner ends without the others, because it has lost a process. Owner only.
  void Leave() { Shared{lines_->has_left}.store(1, std::memory_order_relaxed); }
  /// Whether the owner has called Leave. Never waits.
  bool HasLeft() const { return Shared{lines_->has_left}.load(std::memory_order_relaxed) != 0; }

 private:
  using Word = std::uint64_t;
  using Shared = AtomicRef<Word>;
  static_assert(std::atomic_ref<Word>::is_always_lock_free, "other processes cannot share a lock");
  struct alignas(uit::cache_line) Line {
    Word epoch = 0;
    Word reason = 0;
    Word next = 0;
    std::array<Word, num_reduced> reduced{};
  };
  struct Lines {
    Line of[2];
    Word has_left = 0;
  };

  Lines* lines_;
};

/// A board between processes.
using HostBoard = BasicHostBoard<std::atomic_ref>;

}  // namespace netuit
