#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <netuit/balance/balance_options.hpp>
#include <netuit/balance/balance_rule.hpp>
#include <netuit/balance/load_meter.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/run/earlier_accounts.hpp>
#include <netuit/run/run_in_parts.hpp>
#include <netuit/run/run_options.hpp>
#include <netuit/run/schedule.hpp>
#include <uit/config.hpp>
#include <uit/support/function_ref.hpp>

namespace netuit {

/// A move of nodes to other workers. The same on every process.
struct NodeMove {
  std::uint64_t num_updates = 0;            ///< made before; see MeshCore::NumUpdates
  std::uint64_t num_nodes = 0;              ///< that have another worker since
  std::uint64_t num_bytes = 0;              ///< of the whole state, which was copied to a new mesh
  std::chrono::nanoseconds took{0};         ///< while all workers waited, by the clock of rank 0
  double imbalance_before = 1;              ///< the largest load of a worker over the mean, for the mean loads of the last windows
  double imbalance_after = 1;               ///< for the same loads with the new placement
  std::chrono::duration<double> update_before{0};  ///< what an update of the slowest worker took in the window before
  std::chrono::duration<double> update_after{0};   ///< and in the window after; 0 until that window has ended

  /// Returns how many times as fast updates were in the window after the move, or nothing until that window has ended. Loads that
  /// change meanwhile count, too.
  std::optional<double> Gain() const {
    if (update_before.count() <= 0 || update_after.count() <= 0) return std::nullopt;
    return update_before / update_after;
  }
};

namespace detail {

/// Owns a program's mesh, so that another can take its place.
class ProgramKeeper {
 public:
  ProgramKeeper() = default;
  ProgramKeeper(const ProgramKeeper&) = delete;
  ProgramKeeper& operator=(const ProgramKeeper&) = delete;
  virtual ~ProgramKeeper() = default;

  /// Returns the present mesh.
  virtual Mesh& GetMesh() = 0;
  /// Makes a program with the given placement, calls `move(present mesh, new mesh)`, and replaces the program by the new one. If
  /// anything throws, the present program stays.
  virtual void Replace(std::optional<Placement> placement, uit::FunctionRef<void(Mesh&, Mesh&)> move) = 0;
  /// Runs the present program. The meter measures it, unless the program tells its loads.
  virtual RunReport RunPart(const RunPlan& plan, const RunOptions& options, LoadMeter& meter) = 0;
  /// Returns the loads that the program tells, by local number, or nothing if they are to be measured.
  virtual std::optional<std::vector<double>> Loads() = 0;
};

/// Runs a program window by window, and moves its nodes between two of them.
class Balancer final : public PartMaker {
 public:
  /// Refers to the keeper, which may have no mesh yet. Throws uit::InputError if an option is invalid.
  Balancer(ProgramKeeper& keeper, const BalanceOptions& options) : keeper_(keeper), options_(options), rule_(options) {}

  /// See Balanced::Run.
  RunReport RunAll(const RunPlan& plan, const RunOptions& options);
  /// Returns all moves of nodes.
  const std::vector<NodeMove>& Moves() const { return moves_; }
  /// Returns the imbalance in the last window; 1 if there was none.
  double LastImbalance() const { return last_imbalance_; }

  MeshCore& GetMesh() override { return keeper_.GetMesh(); }
  RunReport Run(const RunPlan& plan, const RunOptions& options) override;
  void EndPart(bool is_last) override;

 private:
  /// What rank 0 decides.
  struct Decision {
    bool moves = false;
    double imbalance = 1;  // in the last window, or after a move
    std::chrono::duration<double> update{0};  // of the slowest worker in the last window
  };

  /// Collects the loads and the placement on rank 0, and returns whether to look for another placement.
  Decision NoteWindow();
  /// Looks for another placement on rank 0. Sets `move_` if it is good enough.
  void Propose();
  void Move();

  ProgramKeeper& keeper_;
  BalanceOptions options_;
  BalanceRule rule_;                  // on rank 0
  std::unique_ptr<LoadMeter> meter_;  // of the present mesh
  Placement present_;                 // on rank 0
  std::optional<Placement> next_;     // on rank 0, during a move
  NodeMove move_;                     // likewise
  std::vector<NodeMove> moves_;
  EarlierAccounts accounts_;          // of all meshes, by worker of the report
  EarlierAccounts earlier_;           // of all but the present mesh, likewise
  std::chrono::duration<double> update_{0};  // of the slowest worker in the last window; of all workers on rank 0
  double last_imbalance_ = 1;
};

}  // namespace detail

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/balance/balancer.ipp>
#endif
