#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <netuit/mesh/layer_part.hpp>
#include <netuit/mesh/partition.hpp>
#include <netuit/mesh/peer_table.hpp>
#include <uit/config.hpp>
#include <uit/transport/process.hpp>

namespace uit {
class Fabric;
}  // namespace uit

namespace netuit {

/// The context in which a layer joins its edges: this process's partitions and its ways to other processes.
struct LayerSite {
  const std::vector<std::unique_ptr<Partition>>& partitions;  ///< by thread
  uit::Fabric& fabric;                                        ///< to other processes
  uit::Process edge;                                          ///< options of every edge; the destination is filled in for each
  const PeerTable& peer_table;                                ///< of this process
  bool is_traced = false;                                     ///< frames carry time stamps

  /// Returns the rank of a worker's process.
  std::size_t ProcessOf(std::uint32_t worker) const { return worker / partitions.size(); }
  /// Returns the worker's thread number within its process.
  std::size_t ThreadOf(std::uint32_t worker) const { return worker % partitions.size(); }
  /// Returns a predicate: whether a worker's time stamps are by the same clock as this process's.
  auto SameClock() const {
    return [this](std::uint32_t worker) { return peer_table.IsSameClock(ProcessOf(worker)); };
  }
};

/// Identifies a layer's type and options. In a replay it must equal the recorded one.
using LayerShape = std::array<std::uint64_t, 7>;

/// Returns the number of a layer's network.
constexpr std::uint32_t NetworkOf(const LayerShape& shape) { return static_cast<std::uint32_t>(shape[2] >> 8U); }

/// A layer of a mesh in one process: a part for each of its workers.
class LayerBase {
 public:
  LayerBase();
  LayerBase(const LayerBase&) = delete;
  LayerBase& operator=(const LayerBase&) = delete;
  virtual ~LayerBase();

  /// Joins the parts. `number` is the layer's number in its mesh. The fabric connects exchanges with other processes later.
  virtual void Join(const LayerSite& site, std::uint32_t number) = 0;
  /// Joins what carries awaited frames, if the layer needs more for them than it has. Called once, before the first run that
  /// awaits frames.
  virtual void JoinAwaited([[maybe_unused]] const LayerSite& site, [[maybe_unused]] std::uint32_t number) {}
  /// Returns the part of a worker.
  virtual LayerPart& Part(std::size_t thread) = 0;
  /// Whether its frames tell the update of the values in them, so that a run can bound their age.
  virtual bool TellsUpdates() const { return false; }
  /// Returns the layer's shape.
  virtual LayerShape Shape() const = 0;
};

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/mesh/layer_base.ipp>
#endif
