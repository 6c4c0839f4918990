#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <netuit/mesh/layer_part.hpp>
#include <netuit/mesh/partition.hpp>
#include <netuit/mesh/surroundings.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/transport/process.hpp>

namespace netuit {

/// What a layer is wired with: this process's partitions, by thread, and what leads to other processes.
struct LayerSite {
  const std::vector<std::unique_ptr<Partition>>& partitions;  ///< by thread
  uit::Fabric& fabric;                                        ///< to other processes
  std::size_t rank;                                           ///< of this process
  uit::Process edge;                                          ///< options of every edge; where it leads is left open
  const Surroundings& surroundings;                           ///< of this process
  bool is_traced = false;                                     ///< frames bear stamps

  /// The rank of a worker's process.
  std::size_t ProcessOf(std::uint32_t worker) const { return worker / partitions.size(); }
  /// The worker's number within its process.
  std::size_t ThreadOf(std::uint32_t worker) const { return worker % partitions.size(); }
  /// Whether a worker is of this process.
  bool IsHere(std::uint32_t worker) const { return ProcessOf(worker) == rank; }
  /// Whether stamps of a worker are by this computer's clock.
  auto SameClock() const {
    return [this](std::uint32_t worker) { return surroundings.IsSameClock(ProcessOf(worker)); };
  }
};

/// All that a layer is and that its conduits are chosen by: what a record must agree on with who replays it.
using LayerShape = std::array<std::uint64_t, 7>;

/// A layer of a mesh, as one process has it: a part for each of its workers.
class LayerBase {
 public:
  LayerBase() = default;
  LayerBase(const LayerBase&) = delete;
  LayerBase& operator=(const LayerBase&) = delete;
  virtual ~LayerBase() = default;

  /// Joins the parts; `number` is the layer's in its mesh. Exchanges with other processes are left for the fabric to connect.
  virtual void Join(const LayerSite& site, std::uint32_t number) = 0;
  /// The part of a worker.
  virtual LayerPart& Part(std::size_t thread) = 0;
  /// What it is.
  virtual LayerShape Shape() const = 0;
};

}  // namespace netuit
