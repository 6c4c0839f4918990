#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <netuit/mesh/layer_part.hpp>
#include <netuit/mesh/levels.hpp>
#include <netuit/mesh/node_notes.hpp>
#include <netuit/mesh/partition.hpp>
#include <netuit/run/update_loop.hpp>
#include <uit/config.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/pause.hpp>
#include <uit/team/loop_board.hpp>

namespace netuit::detail {

/// A worker's nodes in chunks, of which other threads of the process may update some while they wait. That worker only.
///
/// The outcome does not depend on who updates a chunk: what its nodes leave for the worker is kept with the chunk, and the worker
/// combines it in order of nodes. Nodes that a layer binds to the worker are updated by the worker itself, in order. See
/// LayerPart::BindNodes.
///
/// Chunks take about Steals::shortest or longer, as far as the worker can tell: now and then it takes the time of one.
class SharedNodes {
 public:
  /// Refers to the arguments. The nodes form groups, each with its nodes ascending; all nodes of a group may be updated at once.
  /// `thread` is the worker's.
  SharedNodes(Partition& partition, uit::LoopBoard<>& loops, UpdateLoop& loop, std::uint32_t thread,
              std::chrono::nanoseconds shortest, const std::vector<std::span<const NodeRange>>& groups)
      : partition_(partition),
        loops_(loops),
        loop_(loop),
        thread_(thread),
        shortest_chunk_(static_cast<double>(shortest.count())) {
    std::vector<bool> is_bound(partition.NumNodes());
    for (const LayerPart* const layer : partition.layers) layer->BindNodes(is_bound);
    std::size_t num_chunks = 0;
    for (const std::span<const NodeRange> nodes : groups) {
      groups_.emplace_back(nodes, is_bound);
      num_chunks = std::max(num_chunks, std::min<std::size_t>(groups_.back().num_shared, most_chunks));
    }
    chunks_ = std::make_unique<Chunk[]>(num_chunks);
    for (Group& nodes : groups_) Divide(nodes, nodes.smallest_chunk);  // until the time of a node is known
    bound_.notes.silent.reserve(static_cast<std::size_t>(std::ranges::count(is_bound, true)));
  }

  /// Updates a group of nodes, as UpdateLoop::Update does; adds to the worker's notes. If updates throw, passes on the exception of
  /// the first node in order. Some of the later nodes may have been updated then.
  bool Update(std::uint64_t update, std::size_t group, std::uint32_t& position) {
    Group& nodes = groups_[group];
    const bool is_timed = nodes.num_updates++ % updates_per_look == 0;
    if (!nodes.IsShared()) return UpdateAlone(update, nodes, is_timed, position);
    update_ = update;
    nodes_ = &nodes;
    timed_ = is_timed ? nodes.num_updates / updates_per_look % nodes.NumChunks() : nobody;
    first_thrown_.store(nobody, std::memory_order_relaxed);
    HandOver();
    loops_.Post(thread_, nodes.NumChunks(), 1, *this);
    if (!nodes.bound.empty()) Update(bound_, nodes.bound);
    loops_.Work(thread_);
    uit::WaitUntil([&] { return loops_.IsDone(thread_); }, uit::never, [&] { return loops_.TrySteal(thread_); });
    loops_.End(thread_);
    HandOver();
    const bool wants_stop = Combine(nodes, position);
    if (is_timed) Adapt(nodes, time_, NumNodes(nodes.Chunk(timed_)));
    return wants_stop;
  }

  /// For the board: updates some chunks of the present group. Any thread.
  void operator()(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      // All nodes before the first that throws are updated.
      if (i > first_thrown_.load(std::memory_order_relaxed)) return;
      const uit::TimePoint start = i == timed_ ? uit::Now() : uit::TimePoint{};
      Update(chunks_[i], nodes_->Chunk(i));
      if (i == timed_) time_ = uit::Now() - start;
      if (!chunks_[i].thrown) continue;
      std::size_t first = first_thrown_.load(std::memory_order_relaxed);
      while (i < first && !first_thrown_.compare_exchange_weak(first, i, std::memory_order_relaxed)) {
      }
    }
  }

 private:
  /// Nodes that one thread updates, and the outcome.
  struct alignas(uit::cache_line) Chunk {
    std::exception_ptr thrown{};
    std::uint32_t position = 0;    // of the node that has thrown
    bool wants_stop = false;
    NodeNotes notes{};             // last: without sums, all that is used is on one cache line
  };
  /// Nodes that may all be updated at once.
  struct Group {
    Group(std::span<const NodeRange> nodes, const std::vector<bool>& is_bound) : all(nodes.begin(), nodes.end()) {
      for (const NodeRange& range : nodes) {
        for (std::uint32_t node = range.begin; node < range.end; ++node) Append(is_bound[node] ? bound : shared, node);
      }
      num_shared = NumNodes(shared);
      smallest_chunk = (num_shared + most_chunks - 1) / most_chunks;
      pieces.reserve(shared.size() + most_chunks);
      first_of_chunk.reserve(most_chunks + 1);
    }

    /// Divides the shared nodes into chunks of `num_nodes` nodes each. Allocates nothing.
    void Divide(std::size_t num_nodes) {
      chunk_size = num_nodes;
      pieces.clear();
      first_of_chunk.assign(1, 0);
      std::size_t num_left = num_nodes;  // in the present chunk
      for (NodeRange range : shared) {
        while (range.begin < range.end) {
          const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(num_left, range.end - range.begin));
          pieces.push_back({range.begin, range.begin + count});
          range.begin += count;
          num_left -= count;
          if (num_left != 0) continue;
          first_of_chunk.push_back(pieces.size());
          num_left = num_nodes;
        }
      }
      if (first_of_chunk.back() != pieces.size()) first_of_chunk.push_back(pieces.size());
    }
    std::size_t NumChunks() const { return first_of_chunk.size() - 1; }
    bool IsShared() const { return NumChunks() > 1; }
    std::span<const NodeRange> Chunk(std::size_t i) const {
      return std::span(pieces).subspan(first_of_chunk[i], first_of_chunk[i + 1] - first_of_chunk[i]);
    }

    std::vector<NodeRange> all;
    std::vector<NodeRange> bound{};   // to the worker
    std::vector<NodeRange> shared{};  // the others
    std::size_t num_shared = 0;
    std::size_t smallest_chunk = 0;  // number of its nodes
    std::size_t chunk_size = 0;      // likewise
    std::vector<NodeRange> pieces{};             // the shared nodes, chunk by chunk
    std::vector<std::size_t> first_of_chunk{0};  // position in `pieces`, by chunk; then its size
    double node_time = 0;                        // as far as known, in ns; 0: unknown
    std::uint64_t num_updates = 0;
  };

  static constexpr std::size_t most_chunks = 64;        // of a group
  static constexpr std::uint64_t updates_per_look = 8;  // at the clock
  static constexpr std::size_t nobody = std::numeric_limits<std::size_t>::max();

  static std::size_t NumNodes(std::span<const NodeRange> ranges) {
    std::size_t count = 0;
    for (const NodeRange& range : ranges) count += range.end - range.begin;
    return count;
  }
  static void Append(std::vector<NodeRange>& to, std::uint32_t node) {
    if (!to.empty() && to.back().end == node) ++to.back().end;
    else to.push_back({node, node + 1});
  }

  /// The ends of channels may change their thread, which assertions would report.
  void HandOver() {
    for (LayerPart* const layer : partition_.layers) layer->HandOver();
  }
  /// Updates a group without sharing it.
  bool UpdateAlone(std::uint64_t update, Group& nodes, bool is_timed, std::uint32_t& position) {
    if (!is_timed || nodes.num_shared < 2) return loop_.Update(thread_, update, nodes.all, partition_.notes, position);
    const uit::TimePoint start = uit::Now();
    const bool wants_stop = loop_.Update(thread_, update, nodes.all, partition_.notes, position);
    Adapt(nodes, uit::Now() - start, NumNodes(nodes.all));
    return wants_stop;
  }
  /// Chooses the size of chunks from now on. So many nodes have taken this time. A time much longer than expected counts as twice as
  /// long as expected, because the thread may have lost its core.
  void Adapt(Group& nodes, std::chrono::nanoseconds time, std::size_t num_nodes) {
    const double sample = static_cast<double>(time.count()) / static_cast<double>(num_nodes);
    double& expected = nodes.node_time;
    expected = expected == 0 ? sample : expected + (std::min(sample, 2 * expected) - expected) / 4;
    std::size_t size = nodes.smallest_chunk;  // or a power of two times as many
    while (size < nodes.num_shared && static_cast<double>(size) * expected < shortest_chunk_) size *= 2;
    Divide(nodes, size);
  }
  void Divide(Group& nodes, std::size_t size) {
    if (size == nodes.chunk_size) return;
    nodes.Divide(size);
    for (std::size_t i = 0; i < nodes.NumChunks(); ++i)
      chunks_[i].notes.silent.reserve(NumNodes(nodes.Chunk(i)));  // so that updates allocate nothing
  }

  void Update(Chunk& chunk, std::span<const NodeRange> nodes) {
    try {
      chunk.wants_stop = loop_.Update(thread_, update_, nodes, chunk.notes, chunk.position);
    } catch (...) {
      chunk.thrown = std::current_exception();
    }
  }
  /// Combines the outcomes. Throws the exception of the first node that has thrown.
  bool Combine(const Group& nodes, std::uint32_t& position) {
    NodeNotes& notes = partition_.notes;
    const std::size_t num_silent = notes.silent.size();
    bool wants_stop = false;
    Chunk* thrown = nullptr;
    const auto take = [&](Chunk& chunk) {
      wants_stop |= std::exchange(chunk.wants_stop, false);
      notes.reduced.Merge(chunk.notes.reduced);
      chunk.notes.reduced = {};
      if (!chunk.notes.silent.empty()) {
        notes.silent.insert(notes.silent.end(), chunk.notes.silent.begin(), chunk.notes.silent.end());
        chunk.notes.silent.clear();
      }
      if (chunk.thrown && (thrown == nullptr || chunk.position < thrown->position)) thrown = &chunk;
    };
    for (std::size_t i = 0; i < nodes.NumChunks(); ++i) take(chunks_[i]);
    if (!nodes.bound.empty()) {
      take(bound_);
      std::sort(notes.silent.begin() + static_cast<std::ptrdiff_t>(num_silent), notes.silent.end());
    }
    if (thrown == nullptr) [[likely]] return wants_stop;
    position = thrown->position;
    SilenceFrom(position, nodes, num_silent);
    const std::exception_ptr first = thrown->thrown;
    for (std::size_t i = 0; i < nodes.NumChunks(); ++i) chunks_[i].thrown = nullptr;
    bound_.thrown = nullptr;
    std::rethrow_exception(first);
  }
  /// Makes the node at `position` and the later nodes of the group silent. The group's silent nodes begin at `first`.
  void SilenceFrom(std::uint32_t position, const Group& nodes, std::size_t first) {
    std::vector<std::uint32_t>& silent = partition_.notes.silent;
    const auto begin = silent.begin() + static_cast<std::ptrdiff_t>(first);
    silent.erase(std::lower_bound(begin, silent.end(), position), silent.end());
    for (const NodeRange& range : nodes.all) {
      for (std::uint32_t node = std::max(range.begin, position); node < range.end; ++node) silent.push_back(node);
    }
  }

  Partition& partition_;
  uit::LoopBoard<>& loops_;
  UpdateLoop& loop_;
  std::uint32_t thread_;
  double shortest_chunk_;  // ns
  std::vector<Group> groups_;
  std::unique_ptr<Chunk[]> chunks_;  // of the present group
  Chunk bound_;                      // likewise
  // Written before the loop is posted.
  std::uint64_t update_ = 0;
  const Group* nodes_ = nullptr;
  std::size_t timed_ = nobody;        // the chunk whose time is measured
  std::chrono::nanoseconds time_{0};  // which it has taken; written by the thread that updates it
  alignas(uit::cache_line) std::atomic<std::size_t> first_thrown_{nobody};  // the first chunk that has thrown
};

}  // namespace netuit::detail
