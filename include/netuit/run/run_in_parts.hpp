#pragma once

#include <cstdint>

#include <netuit/mesh/mesh_core.hpp>
#include <netuit/run/part_planner.hpp>
#include <netuit/run/run_options.hpp>
#include <netuit/run/schedule.hpp>
#include <uit/config.hpp>

namespace netuit::detail {

/// What makes the parts of a run. All functions are called on every process.
class PartMaker {
 public:
  PartMaker() = default;
  PartMaker(const PartMaker&) = delete;
  PartMaker& operator=(const PartMaker&) = delete;
  virtual ~PartMaker() = default;

  /// Returns the mesh of the next part.
  virtual MeshCore& GetMesh() = 0;
  /// Runs a part.
  virtual RunReport Run(const RunPlan& plan, const RunOptions& options) = 0;
  /// Called after each part, unless an update has thrown or a process was lost. `is_last` tells whether the run has ended. The next
  /// part may be made on another mesh of the same graph.
  virtual void EndPart(bool is_last) = 0;

  /// Whether the run goes on without processes that have ended.
  virtual bool OutlivesLosses() const { return false; }
  /// Called if it does, after a process was lost in a part or between two. `whole` is the report so far. Makes the next part run on
  /// the other processes, on another mesh of the same graph, of which MeshCore::NumUpdates is the same on every process. Lets
  /// `whole` have their workers, as if it came from that mesh. Returns false if that is impossible: then the run ends.
  virtual bool TryGoOn([[maybe_unused]] RunReport& whole) { return false; }
  /// Called after TryGoOn, if the run has made all its updates, but nodes that were taken over have not. Lets the mesh go on from
  /// an earlier update.
  virtual void RepeatFrom(std::uint64_t num_updates) { GetMesh().SetNumUpdates(num_updates); }
};

/// Makes a run in parts, of which the updates are numbered on, from MeshCore::NumUpdates or from first_update if that is larger. A
/// part begins at a multiple of every network's period. The limits of the plan are those of all parts together; the time between
/// two parts does not count. The report is of the whole run; a quantile in it is the largest of any part.
///
/// Signals that come between two parts end the run. Collective. Throws like the maker's functions, except uit::PeerLost if the
/// maker outlives losses.
RunReport RunInParts(PartMaker& maker, const RunPlan& plan, const RunOptions& options, const PartLimits& limits);

}  // namespace netuit::detail

#if !UIT_COMPILED
#include <netuit/run/run_in_parts.ipp>
#endif
