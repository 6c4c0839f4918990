#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include <netuit/graph/topologies.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/node_random.hpp>
#include <uit/config.hpp>
#include <uit/support/clock.hpp>

#include "demos/channel_selection/cell.hpp"

/// Graph colouring by hand, with the rule, random numbers and node order of the library's demo. A
/// torus 64 wide is cut into blocks of 32 rows, one per worker; a worker's ghosts are its
/// neighbours' edge rows.
namespace bench::coloring {

inline constexpr std::uint64_t seed = 1;
inline constexpr std::size_t width = 64;
inline constexpr std::size_t rows_per_worker = 32;
inline constexpr std::size_t nodes_per_worker = width * rows_per_worker;
inline constexpr channel_selection::LeithRule rule{};

/// A random colour, the same on every process.
[[nodiscard]] inline unsigned FirstColor(netuit::NodeId node) {
  return netuit::NodeRandom{seed, node, ~std::uint64_t{0}}.Below(rule.num_colors);
}

/// The nodes of one worker in a plain loop: its own colours, then ghosts, and for each node the positions of its neighbours.
class Block {
 public:
  Block(std::size_t worker, std::size_t num_workers)
      : first_{worker * nodes_per_worker}, colors_(nodes_per_worker + 2 * width), cells_{nodes_per_worker, rule} {
    const std::size_t num_rows = num_workers * rows_per_worker;
    const auto place = [&](std::size_t row, std::size_t column) {
      const std::size_t node = (row % num_rows) * width + column % width;
      if (node / nodes_per_worker == worker) return node - first_;
      const bool is_above = row % num_rows == (first_ / width + num_rows - 1) % num_rows && num_workers > 1;
      return nodes_per_worker + (is_above ? 0 : width) + column % width;
    };
    for (std::size_t i = 0; i < nodes_per_worker; ++i) {
      const std::size_t row = (first_ + i) / width;
      const std::size_t column = i % width;
      first_neighbor_.push_back(static_cast<std::uint32_t>(neighbors_.size()));
      for (const std::size_t at : {place(row + num_rows - 1, column), place(row, column + width - 1),
                                   place(row, column + 1), place(row + 1, column)})
        neighbors_.push_back(static_cast<std::uint32_t>(at));
      colors_[i] = FirstColor(static_cast<netuit::NodeId>(first_ + i));
      cells_.Set(i, colors_[i]);
    }
    first_neighbor_.push_back(static_cast<std::uint32_t>(neighbors_.size()));
    for (std::size_t column = 0; column < width; ++column) {
      const std::size_t above = (first_ / width + num_rows - 1) % num_rows * width + column;
      const std::size_t below = (first_ / width + rows_per_worker) % num_rows * width + column;
      colors_[nodes_per_worker + column] = FirstColor(static_cast<netuit::NodeId>(above));
      colors_[nodes_per_worker + width + column] = FirstColor(static_cast<netuit::NodeId>(below));
    }
  }

  /// Updates every node once, in order and in place. Not inlined, so that its speed does not depend on the caller.
  UIT_NOINLINE void Sweep() {
    SweepNodes(0, nodes_per_worker);
    ++update_;
  }
  /// The same in two steps, so that others can get the edge rows while the inner rows are updated.
  UIT_NOINLINE void SweepEdgeRows() {
    SweepNodes(0, width);
    SweepNodes(nodes_per_worker - width, nodes_per_worker);
  }
  UIT_NOINLINE void SweepInnerRows() {
    SweepNodes(width, nodes_per_worker - width);
    ++update_;
  }
  /// The same by a loop that knows that every node has four neighbours, so that the compiler can unroll it.
  UIT_NOINLINE void SweepOfDegree4() {
    for (std::size_t node = 0; node < nodes_per_worker; ++node) {
      const unsigned mine = colors_[node];
      const std::uint32_t* const at = &neighbors_[4 * node];
      bool conflict = false;
      for (std::size_t i = 0; i < 4; ++i) conflict |= colors_[at[i]] == mine;
      Settle(node, conflict);
    }
    ++update_;
  }

  /// Copies of the rows above and below.
  [[nodiscard]] unsigned* GhostsAbove() { return &colors_[nodes_per_worker]; }
  [[nodiscard]] unsigned* GhostsBelow() { return &colors_[nodes_per_worker + width]; }
  /// The rows that are ghosts elsewhere.
  [[nodiscard]] const unsigned* FirstRow() const { return &colors_[0]; }
  [[nodiscard]] const unsigned* LastRow() const { return &colors_[nodes_per_worker - width]; }

  /// Ends the program if the ghosts differ from the other worker's edge rows.
  void CheckGhosts(std::span<const unsigned> first_row, std::span<const unsigned> last_row) const {
    const std::span<const unsigned> ghosts{&colors_[nodes_per_worker], 2 * width};
    if (!std::ranges::equal(ghosts.first(width), last_row) || !std::ranges::equal(ghosts.last(width), first_row)) std::abort();
  }
  [[nodiscard]] unsigned Color(std::size_t node) const { return colors_[node]; }

  [[nodiscard]] std::size_t NumConflicts() const {
    std::size_t count = 0;
    for (std::size_t node = 0; node < nodes_per_worker; ++node)
      for (std::uint32_t i = first_neighbor_[node]; i < first_neighbor_[node + 1]; ++i)
        count += colors_[neighbors_[i]] == colors_[node];
    return count;
  }

 private:
  [[nodiscard]] netuit::NodeRandom Random(std::size_t node) const {
    return {seed, static_cast<netuit::NodeId>(first_ + node), update_};
  }

  UIT_INLINE void SweepNodes(std::size_t first, std::size_t last) {
    for (std::size_t node = first; node < last; ++node) {
      const unsigned mine = colors_[node];
      bool conflict = false;
      for (std::uint32_t i = first_neighbor_[node]; i < first_neighbor_[node + 1]; ++i)
        conflict |= colors_[neighbors_[i]] == mine;
      Settle(node, conflict);
    }
  }
  UIT_INLINE void Settle(std::size_t node, bool conflict) {
    if (conflict) [[unlikely]]
      Redraw(node);
    else
      cells_.Learn(node, false, Random(node));
  }
  /// Not inlined, because otherwise it takes registers, and the sweep is a quarter slower.
  UIT_NOINLINE void Redraw(std::size_t node) {
    cells_.Learn(node, true, Random(node));
    colors_[node] = cells_.Color(node);
  }

  std::size_t first_;
  std::vector<unsigned> colors_;
  std::vector<std::uint32_t> first_neighbor_;
  std::vector<std::uint32_t> neighbors_;
  channel_selection::Cells<float> cells_;
  std::uint64_t update_ = 0;
};

/// The edge rows of two workers in shared memory, read and written without waiting. With versions a worker reads only new rows.
template <bool is_versioned>
class BasicSharedHalo {
 public:
  /// Copies the other worker's rows into this one's ghosts.
  void Pull(std::size_t worker, Block& block) {
    // With two workers, each is both above and below the other.
    const Rows& other = rows_[1 - worker];
    if constexpr (is_versioned) {
      const std::uint64_t version = other.version.load(std::memory_order_acquire);  // pairs with the release in Push
      if (version == seen_[worker].version) return;
      seen_[worker].version = version;
    }
    for (std::size_t i = 0; i < width; ++i) {
      block.GhostsAbove()[i] = other.last[i].load(std::memory_order_relaxed);
      block.GhostsBelow()[i] = other.first[i].load(std::memory_order_relaxed);
    }
  }
  void Push(std::size_t worker, const Block& block) {
    Rows& mine = rows_[worker];
    for (std::size_t i = 0; i < width; ++i) {
      mine.first[i].store(block.FirstRow()[i], std::memory_order_relaxed);
      mine.last[i].store(block.LastRow()[i], std::memory_order_relaxed);
    }
    if constexpr (is_versioned)
      mine.version.store(mine.version.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

 private:
  struct alignas(2 * uit::cache_line) Rows {
    std::atomic<std::uint64_t> version{0};
    std::array<std::atomic<unsigned>, width> first{};
    std::array<std::atomic<unsigned>, width> last{};
  };
  struct alignas(2 * uit::cache_line) Seen {
    std::uint64_t version = 0;
  };
  std::array<Rows, 2> rows_{};
  std::array<Seen, 2> seen_{};  // of the other, each worker's own
};
using SharedHalo = BasicSharedHalo<false>;
using VersionedHalo = BasicSharedHalo<true>;

/// Sweeps and the time that they took.
struct Work {
  std::uint64_t num_sweeps = 0;
  std::chrono::duration<double, std::nano> elapsed{0};
  [[nodiscard]] double Time() const { return elapsed.count() / static_cast<double>(num_sweeps); }
};

/// Calls sweep() until the window is over.
template <typename Sweep>
[[nodiscard]] Work WorkFor(std::chrono::nanoseconds window, Sweep&& sweep) {
  const uit::TimePoint start = uit::Now();
  Work work;
  do {
    sweep();
    ++work.num_sweeps;
    work.elapsed = uit::Now() - start;
  } while (work.elapsed < window);
  return work;
}

/// Calls sweep() a fixed number of times: for workers that wait for each other.
template <typename Sweep>
[[nodiscard]] Work WorkThrough(std::uint64_t num_sweeps, Sweep&& sweep) {
  const uit::TimePoint start = uit::Now();
  for (std::uint64_t i = 0; i < num_sweeps; ++i) sweep();
  return {.num_sweeps = num_sweeps, .elapsed = uit::Now() - start};
}

}  // namespace bench::coloring
