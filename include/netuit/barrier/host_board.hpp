#pragma once

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

/// What one process says to the others of its node at barriers, in memory that all of them see.
///
/// It writes, and the others read: that it has come to barrier number `epoch`, and what it brings. Barriers of odd and of even
/// number have a line each. A line is written again two barriers later, when all have come to the one between, and so
/// have read it.
///
/// `AtomicRef`: as std::atomic_ref, or under a model that explores every schedule.
template <template <typename> class AtomicRef>
class BasicHostBoard {
 public:
  /// Makes a blank board at the head of `memory`, on a line. Its own process, before the others look.
  static void Create(uit::MutableByteView memory) {
    UIT_ASSERT(memory.size() >= sizeof(Lines), "a board needs its lines");
    new (memory.data()) Lines{};
  }
  /// Bytes of a board.
  static constexpr std::size_t NumBytes() { return sizeof(Lines); }
  /// A board that has been made, of this or another process.
  explicit BasicHostBoard(std::byte* memory) : lines_(reinterpret_cast<Lines*>(memory)) {}

  /// Says so. Its own process only.
  void Post(std::uint64_t epoch, const Vote& accord) {
    Line& line = lines_->of[epoch % 2];
    Shared{line.reason}.store(std::uint64_t{accord.stop} << 32U | accord.is_pending, std::memory_order_relaxed);
    Shared{line.next}.store(accord.next, std::memory_order_relaxed);
    // Pairs with the acquire in Read.
    Shared{line.epoch}.store(epoch, std::memory_order_release);
  }
  /// What its process brings to barrier number `epoch`, if it has come there. Never waits.
  std::optional<Vote> Read(std::uint64_t epoch) const {
    Line& line = lines_->of[epoch % 2];
    // Pairs with the release in Post.
    if (Shared{line.epoch}.load(std::memory_order_acquire) != epoch) return std::nullopt;
    const std::uint64_t reason = Shared{line.reason}.load(std::memory_order_relaxed);
    return Vote{.stop = static_cast<std::uint32_t>(reason >> 32U),
                  .is_pending = static_cast<std::uint32_t>(reason),
                  .next = Shared{line.next}.load(std::memory_order_relaxed)};
  }

  /// Its process ends without the others, because it has lost one. Its own process only.
  void Leave() { Shared{lines_->has_left}.store(1, std::memory_order_relaxed); }
  /// Whether it said so. Never waits.
  bool HasLeft() const { return Shared{lines_->has_left}.load(std::memory_order_relaxed) != 0; }

 private:
  using Word = std::uint64_t;
  using Shared = AtomicRef<Word>;
  static_assert(std::atomic_ref<Word>::is_always_lock_free, "other processes would not see a lock");
  struct alignas(uit::cache_line) Line {
    Word epoch = 0;
    Word reason = 0;
    Word next = 0;
  };
  struct Lines {
    Line of[2];
    Word has_left = 0;
  };

  Lines* lines_;
};

/// Between processes.
using HostBoard = BasicHostBoard<std::atomic_ref>;

}  // namespace netuit
