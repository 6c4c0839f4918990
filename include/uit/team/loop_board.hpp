#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include <uit/config.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/support/function_ref.hpp>
#include <uit/support/pause.hpp>
#include <uit/support/sync.hpp>

namespace uit {

/// Loops of the threads of one process, of which threads that wait may run chunks.
///
///     uit::LoopBoard board{num_threads};
///     board.For(thread, values.size(), 64, [&](std::size_t begin, std::size_t end) { … });   // a thread that has work
///     uit::WaitUntil(is_ready, uit::never, [&] { return board.TrySteal(thread); });           // a thread that waits
///
/// Each thread has a number below `num_threads` and posts one loop at a time. A loop over [0, n) consists of chunks of `grain`
/// indices; the last may be smaller. Each chunk runs once, on the thread that posted the loop or on one that steals it. For returns
/// when all chunks are done, so the body may live on the stack. Nothing allocates after the constructor.
///
/// Steals do not nest: within a chunk, TrySteal finds nothing, and For runs its loop on the calling thread alone. So a stolen chunk
/// delays a thread by this chunk only, and no thread waits for itself.
///
/// One word per thread holds the range of chunks of its loop that nobody has begun. A thread claims chunks by compare-exchange on
/// this word, and looks at the loop only after its claim. So if it sleeps before the claim while the loop ends and another begins,
/// the claim fails, or it is a claim on the present loop. The loop's owner waits until each claimed chunk is done. It claims from the
/// front and others from the back, so that in similar loops a thread mostly gets the same chunks, whose data its cache has.
template <Synchronization Sync = Spsc, typename Body = FunctionRef<void(std::size_t, std::size_t)>>
class LoopBoard {
 public:
  /// For so many threads, at least one. The board must outlive their calls.
  explicit LoopBoard(std::uint32_t num_threads) : slots_(std::make_unique<Slot[]>(num_threads)), num_threads_(num_threads) {
    UIT_ASSERT(num_threads > 0, "a board needs at least one thread");
  }

  /// Returns the number of chunks of a loop. Throws InputError unless there are at most 2^32 - 1, of at least one index.
  static std::size_t NumChunks(std::size_t n, std::size_t grain) {
    if (grain == 0 || n / grain >= most_chunks) [[unlikely]]
      throw InputError("a loop has at most 2^32 - 1 chunks, of at least one index");
    return n / grain + (n % grain != 0 ? 1 : 0);
  }

  /// Calls `body(begin, end)` for ranges that together are [0, n), and waits until all are done. `begin` is a multiple of `grain`,
  /// which is at least 1; a call covers one chunk or several. While others run its last chunks, the calling thread steals. If
  /// chunks throw, throws the first exception, and chunks that have not begun by then are left out.
  void For(std::uint32_t thread, std::size_t n, std::size_t grain, Body body) {
    if (slots_[thread].is_in_chunk) {
      if (n != 0) body(std::size_t{0}, n);
      return;
    }
    Post(thread, n, grain, std::move(body));
    Work(thread);
    WaitUntil([&] { return IsDone(thread); }, never, [&] { return TrySteal(thread); });
    End(thread);
  }

  /// Calls `map(begin, end)` for each chunk, and returns what `combine(sum, next)` makes of `initial` and the results, in order of
  /// chunks. So the result depends on `n` and `grain`, but not on who ran what. `parts` has room for NumChunks(n, grain) results.
  template <std::movable T, std::invocable<std::size_t, std::size_t> Map, std::invocable<T, T> Combine>
  T Reduce(std::uint32_t thread, std::size_t n, std::size_t grain, std::span<T> parts, T initial, Map&& map, Combine&& combine) {
    const std::size_t num_chunks = NumChunks(n, grain);
    UIT_ASSERT(parts.size() >= num_chunks, "a reduction needs room for the result of each chunk");
    For(thread, n, grain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t at = begin; at < end; at += grain) parts[at / grain] = map(at, std::min(at + grain, end));
    });
    for (T& part : parts.first(num_chunks)) initial = combine(std::move(initial), std::move(part));
    return initial;
  }

  /// Runs one chunk of another thread's loop, if there is one, and returns whether it has. Never waits for others. Starts with the
  /// thread from which the last chunk came, then goes round.
  bool TrySteal(std::uint32_t thread) {
    Slot& mine = slots_[thread];
    if (mine.is_in_chunk) return false;
    for (std::uint32_t tried = 0; tried < num_threads_; ++tried) {
      if (mine.victim != thread && TryStealFrom(slots_[mine.victim], mine)) return true;
      mine.victim = mine.victim + 1 == num_threads_ ? 0 : mine.victim + 1;
    }
    return false;
  }

  // The parts of For. A thread calls them in this order, and not within a chunk.

  /// Posts a loop: from now on, others may take chunks. What `body` refers to must live until End.
  void Post(std::uint32_t thread, std::size_t n, std::size_t grain, Body body) {
    const std::size_t num_chunks = NumChunks(n, grain);
    Slot& mine = slots_[thread];
    UIT_ASSERT(!mine.is_in_chunk && !mine.body, "a thread posts one loop at a time");
    mine.body.emplace(std::move(body));
    mine.n = n;
    mine.grain = grain;
    mine.num_chunks = num_chunks;
    mine.num_run = 0;
    mine.num_stolen.store(0, std::memory_order_relaxed);
    mine.has_thrown.store(0, std::memory_order_relaxed);
    // Pairs with the acquire in TryStealFrom: the loop comes first.
    mine.left.store(mine.num_chunks, std::memory_order_release);
  }
  /// Runs chunks of the loop until all have begun.
  void Work(std::uint32_t thread) {
    Slot& mine = slots_[thread];
    std::uint64_t left = mine.left.load(std::memory_order_relaxed);
    while (First(left) != Last(left)) {
      // Many chunks at a time while many are left, because each claim takes time; one at a time in the end.
      const std::uint64_t count = std::max<std::uint64_t>((Last(left) - First(left)) / (std::uint64_t{4} * num_threads_), 1);
      const std::uint64_t rest = left + (count << 32U);
      if (!mine.left.compare_exchange_strong(left, rest, std::memory_order_relaxed, std::memory_order_relaxed)) continue;
      Run(mine, mine, First(left), First(rest));
      mine.num_run += count;
      left = mine.left.load(std::memory_order_relaxed);
    }
  }
  /// Returns whether all chunks are done.
  [[nodiscard]] bool IsDone(std::uint32_t thread) const {
    const Slot& mine = slots_[thread];
    // Pairs with the release in TryStealFrom: acquires what stolen chunks have written.
    return mine.num_run + mine.num_stolen.load(std::memory_order_acquire) == mine.num_chunks;
  }
  /// Ends the loop; only once IsDone has returned true. Throws the first exception of its chunks.
  void End(std::uint32_t thread) {
    Slot& mine = slots_[thread];
    mine.body.reset();
    if (mine.thrown) std::rethrow_exception(std::exchange(mine.thrown, nullptr));
  }

 private:
  struct alignas(side_alignment<Sync, std::uint64_t>) Slot {
    // On one cache line, because a thread that claims a chunk soon needs the rest.
    typename Sync::template Atomic<std::uint64_t> left{0};        // chunks that nobody has begun; see First and Last
    typename Sync::template Atomic<std::uint64_t> num_stolen{0};  // chunks that others have run
    typename Sync::template Atomic<std::uint32_t> has_thrown{0};  // a chunk
    // Written by the owner, except for `thrown`. Others read it between a claim and its end.
    std::size_t n = 0;
    std::size_t grain = 1;
    std::size_t num_chunks = 0;
    std::optional<Body> body{};
    std::exception_ptr thrown{};  // of the first chunk that has thrown; written by the thread that ran it

    // Owner's only.
    alignas(side_alignment<Sync, std::uint64_t>) std::uint64_t num_run = 0;  // chunks that the owner has run itself
    std::uint32_t victim = 0;  // the thread from which to steal first
    bool is_in_chunk = false;
  };

  static constexpr std::uint64_t most_chunks = 0xFFFF'FFFFU;
  /// Returns the first of the chunks that a word says nobody has begun.
  static constexpr std::uint64_t First(std::uint64_t left) { return left >> 32U; }
  /// Returns one past the last of them.
  static constexpr std::uint64_t Last(std::uint64_t left) { return left & most_chunks; }

  static bool TryStealFrom(Slot& victim, Slot& mine) {
    std::uint64_t left = victim.left.load(std::memory_order_relaxed);
    do {
      if (First(left) == Last(left)) return false;
      // Acquires the loop that the owner has posted. Each failure means that another thread has claimed a chunk.
    } while (!victim.left.compare_exchange_strong(left, left - 1, std::memory_order_acquire, std::memory_order_relaxed));
    Run(victim, mine, Last(left) - 1, Last(left));
    victim.num_stolen.fetch_add(1, std::memory_order_release);  // the last use of the loop
    return true;
  }

  /// Runs chunks that have been claimed.
  static void Run(Slot& of, Slot& mine, std::uint64_t first, std::uint64_t last) {
    if (of.has_thrown.load(std::memory_order_relaxed) != 0) return;
    const std::size_t begin = first * of.grain;
    const std::size_t end = last == of.num_chunks ? of.n : last * of.grain;
    std::exception_ptr thrown;
    mine.is_in_chunk = true;
    try {
      (*of.body)(begin, end);
    } catch (...) {
      thrown = std::current_exception();
    }
    mine.is_in_chunk = false;
    if (thrown && of.has_thrown.exchange(1, std::memory_order_relaxed) == 0) of.thrown = std::move(thrown);
  }

  std::unique_ptr<Slot[]> slots_;  // by thread
  std::uint32_t num_threads_;
};

}  // namespace uit
