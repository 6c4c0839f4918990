#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <netuit/checkpoint/run_with_checkpoints.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/run/earlier_accounts.hpp>
#include <netuit/run/run_in_parts.hpp>
#include <netuit/run/run_options.hpp>
#include <netuit/run/schedule.hpp>
#include <uit/config.hpp>
#include <uit/link/process_state.hpp>
#include <uit/support/function_ref.hpp>
#include <uit/team/team.hpp>

namespace netuit {

/// Processes that have ended, and what the others did about it. The same on every process.
struct Loss {
  std::vector<std::size_t> ranks{};   ///< of the processes, in the first team
  std::uint64_t num_updates = 0;      ///< after which the others went on; see MeshCore::NumUpdates
  std::uint64_t num_nodes = 0;        ///< that have their values from the checkpoint since
  std::uint64_t num_messages = 0;     ///< that were put once more
  std::chrono::nanoseconds took{0};   ///< from when the others had met, by the clock of the first of them
};

namespace detail {

/// Owns a program's mesh, so that another on fewer processes can take its place.
class ResilientKeeper {
 public:
  ResilientKeeper() = default;
  ResilientKeeper(const ResilientKeeper&) = delete;
  ResilientKeeper& operator=(const ResilientKeeper&) = delete;
  virtual ~ResilientKeeper() = default;

  /// Returns the present mesh.
  virtual Mesh& GetMesh() = 0;
  /// Makes a program of this team, calls `move(present mesh, new mesh)`, and replaces the program by the new one. If anything
  /// throws, the present program stays.
  virtual void Replace(const uit::Team& team, uit::FunctionRef<void(Mesh&, Mesh&)> move) = 0;
  /// Runs the present program.
  virtual RunReport RunPart(const RunPlan& plan, const RunOptions& options) = 0;
};

/// Runs a program part by part, saves a checkpoint after each, and lets the remaining processes go on if others end.
class Recovery final : public PartMaker {
 public:
  /// Refers to the keeper, which may have no mesh yet. Collective. Throws uit::InputError if an option is invalid.
  Recovery(ResilientKeeper& keeper, const uit::Team& team, CheckpointOptions checkpoints);
  /// Call it when the keeper has no mesh any more. Collective over the remaining processes.
  ~Recovery() override;

  /// Returns the present processes, on a world that nothing else uses.
  const uit::Team& GetTeam() const { return team_; }
  /// See Resilient::Run.
  RunReport RunAll(const RunPlan& plan, const RunOptions& options);
  /// Returns all losses so far.
  const std::vector<Loss>& Losses() const { return losses_; }

  MeshCore& GetMesh() override { return keeper_.GetMesh(); }
  RunReport Run(const RunPlan& plan, const RunOptions& options) override;
  void EndPart(bool is_last) override;
  bool OutlivesLosses() const override { return true; }
  bool TryGoOn(RunReport& whole) override;
  void RepeatFrom(std::uint64_t num_updates) override;

 private:
  /// Returns how long to wait until all remaining processes have come.
  std::chrono::nanoseconds Patience() const;
  /// Gives the new mesh its state. Returns what that took, except for the ranks.
  Loss Restore(Mesh& from, Mesh& to);
  /// Returns the workers of all processes of the team on its first, and those of this process elsewhere. Collective.
  static std::vector<WorkerReport> GatherWorkers(const uit::Team& team, const std::vector<WorkerReport>& all);

  ResilientKeeper& keeper_;
  CheckpointOptions checkpoints_;
  std::shared_ptr<uit::ProcessState> process_;  // of the first team
  uit::Team team_;
  std::vector<std::size_t> ranks_;  // by rank in the team: the rank in the first
  std::vector<Loss> losses_;
  EarlierAccounts earlier_;         // of all meshes but the present one, by worker of the report
  bool rolls_back_ = false;         // all nodes go back to the checkpoint, because the mode needs one common update
  std::chrono::nanoseconds peer_timeout_{0};
  std::chrono::nanoseconds longest_part_{0};
};

}  // namespace detail

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/resilience/recovery.ipp>
#endif
