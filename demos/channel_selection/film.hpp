#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <netuit/mesh/gather.hpp>
#include <netuit/mesh/mesh_core.hpp>
#include <netuit/run/run_options.hpp>
#include <uit/link/world.hpp>
#include <utility>
#include <vector>

namespace channel_selection {

/// The colours of all nodes, by global id, at about the same time.
struct Frame {
  std::chrono::nanoseconds elapsed{0};  ///< since the start barrier; by each worker's own clock
  std::vector<unsigned> colors;
};

/// Records the colours of this process's nodes during a run. Each worker records its own nodes, between its updates. If a
/// worker missed a frame, the frame shows its nodes as in the previous frame.
class Film {
 public:
  /// Records a frame every `interval` of a run of `duration`, up to a limit of memory; none if the interval is 0.
  Film(std::size_t num_nodes, std::size_t num_threads, std::chrono::nanoseconds interval, std::chrono::nanoseconds duration)
      : interval_{interval}, last_(num_threads, 0) {
    if (interval.count() <= 0) return;
    const auto num_frames = static_cast<std::size_t>(duration / interval) + 1;
    frames_.assign(std::min(num_frames, max_frames), std::vector<unsigned>(num_nodes));
  }

  /// Records a worker's nodes; `color(node)` returns their colours. Only that worker calls this.
  template <std::invocable<std::size_t> F>
  void Record(const netuit::Sample& sample, F&& color) {
    const auto now = std::min(static_cast<std::size_t>(sample.elapsed / interval_), frames_.size() - 1);
    std::size_t& last = last_[sample.worker.thread];
    for (std::size_t frame = last + 1; frame < now; ++frame) {  // missed
      for (std::size_t i = 0; i < sample.num_nodes; ++i)
        frames_[frame][sample.first_node + i] = frames_[last][sample.first_node + i];
    }
    for (std::size_t i = 0; i < sample.num_nodes; ++i) frames_[now][sample.first_node + i] = color(sample.first_node + i);
    last = now;
  }
  /// Collective. Brings the frames to rank 0, without those that some worker did not reach.
  std::vector<Frame> Gather(const netuit::MeshCore& mesh) const {
    std::vector<Frame> film;
    for (std::size_t frame = 0; frame < NumWhole(mesh); ++frame) {
      auto colors = netuit::GatherByNode(mesh, frames_[frame]);
      if (mesh.GetWorld().IsRoot()) film.push_back({frame * interval_, std::move(colors)});
    }
    return film;
  }

 private:
  /// The number of frames that every worker of the job has reached.
  std::size_t NumWhole(const netuit::MeshCore& mesh) const {
    if (frames_.empty()) return 0;
    const std::size_t mine = *std::ranges::min_element(last_) + 1;
    return mesh.GetWorld().Min(mine);
  }

  static constexpr std::size_t max_frames = 1000;

  std::chrono::nanoseconds interval_;
  std::vector<std::vector<unsigned>> frames_;  // by frame and local node
  std::vector<std::size_t> last_;              // recorded, by thread
};

}  // namespace channel_selection
