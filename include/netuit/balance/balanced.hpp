#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <netuit/balance/balance_options.hpp>
#include <netuit/balance/balancer.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/node.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/run/mesh_program.hpp>
#include <netuit/run/run.hpp>
#include <netuit/run/run_options.hpp>
#include <netuit/run/schedule.hpp>
#include <netuit/run/update_loop.hpp>
#include <uit/config.hpp>
#include <uit/support/function_ref.hpp>

namespace netuit {

/// A program whose nodes move to other workers while it runs, so that all have about the same load.
///
///     struct Heat {
///       Heat(const uit::Team& team, const netuit::MeshOptions& options) : mesh(team, netuit::Torus(512, 512), options) {}
///       void Update(netuit::Node& node) { … theta[node] = … }
///       netuit::Mesh mesh;
///       netuit::PublishedField<double> theta = mesh.AddPublishedField<double>();
///     };
///     netuit::Balanced<Heat> heat([&](const netuit::MeshOptions& options) { return std::make_unique<Heat>(team, options); });
///     heat.Run(netuit::Free{.duration = 1min});
///     heat->mesh.WriteTable("theta.csv", netuit::Column{"theta", heat->theta});
///
/// Loads are measured over windows, between which all workers meet: the time of each node's update or, if the program has a
/// function `double Load(netuit::Node&)`, what it returns for each node at the end of a window. If workers are out of balance, rank
/// 0 looks for a placement in which they are not and for which few nodes move (see PlaceNear and BalanceOptions). Then `make` makes
/// a second program with that placement, which receives the state of the first: fields, edge fields, waiting messages and the
/// number of updates; see MoveState. The first one is destroyed. While both exist, each process needs memory for both.
///
/// With EveryUpdate and Dataflow, results are those of a run without moves, bit for bit, under the conditions of LoadCheckpoint.
///
/// Handles belong to the mesh that they were made of. So keep them in the program, and reach them through this object: a handle
/// that was copied elsewhere is not valid after a run. Data of the program outside its mesh does not move.
template <MeshProgram P>
class Balanced final : private detail::ProgramKeeper {
 public:
  /// Makes a program with these options of its mesh. Collective. It must always make the same graph, fields and channels.
  using Make = std::function<std::unique_ptr<P>(const MeshOptions&)>;

  /// Makes the first program. Collective. Throws uit::InputError if an option is invalid, and what `make` throws.
  explicit Balanced(Make make, const BalanceOptions& options = {}, MeshOptions mesh_options = {})
      : make_(std::move(make)), mesh_options_(std::move(mesh_options)), balancer_(*this, options), program_(make_(mesh_options_)) {
    mesh_options_.placement.reset();
  }

  /// Returns the present program. After a run it may be another one than before.
  P& operator*() { return *program_; }
  /// Returns a pointer to the present program, likewise.
  P* operator->() { return program_.get(); }

  /// Runs like Mesh::Run, and moves nodes between windows. Update numbers go on from Mesh::NumUpdates, or from first_update if that
  /// is larger, at the next multiple of every network's period. The limits of the schedule count from the call, and the time for
  /// moves does not count. Windows are parts of the run, as in RunWithCheckpoints.
  ///
  /// The report is of the whole run; a quantile in it is the largest of any window. Its accounts count since the first mesh was
  /// made. A message that waits while nodes move counts as unread, and then as put once more.
  ///
  /// Collective. Throws like Mesh::Run, and uit::InputError if the run is a record or a replay, or if the mesh has captures, shared
  /// objects, or fields whose values are neither trivially copyable nor have a codec. If `make` or the move throws, the present
  /// program stays.
  template <ScheduleValue S>
  RunReport Run(const S& schedule, const RunOptions& options = {}) {
    return balancer_.RunAll(schedule.MakePlan(), options);
  }

  /// Returns all moves so far.
  const std::vector<NodeMove>& Moves() const { return balancer_.Moves(); }
  /// Returns the largest load of a worker over the mean, in the last window; 1 if there was none.
  double LastImbalance() const { return balancer_.LastImbalance(); }

 private:
  static constexpr bool tells_loads = requires(P& program, Node& node) {
    { program.Load(node) } -> std::convertible_to<double>;
  };

  Mesh& GetMesh() override { return program_->mesh; }
  void Replace(std::optional<Placement> placement, uit::FunctionRef<void(Mesh&, Mesh&)> move) override {
    MeshOptions options = mesh_options_;
    options.placement = std::move(placement);
    std::unique_ptr<P> next = make_(options);
    move(program_->mesh, next->mesh);
    program_ = std::move(next);
  }
  RunReport RunPart(const RunPlan& plan, const RunOptions& options, detail::LoadMeter& meter) override {
    P& program = *program_;
    const auto update = [&program](Node& node) { program.Update(node); };
    detail::NodeLoop loop(program.mesh, options.first_update, update);
    program.mesh.ShowByUpdate(plan.delivery.is_by_update);
    meter.Watch(loop);
    if (tells_loads) return detail::RunUpdateLoop(program.mesh, plan, options, loop);
    return detail::RunUpdateLoop(program.mesh, plan, options, meter);
  }
  std::optional<std::vector<double>> Loads() override {
    if constexpr (!tells_loads) {
      return std::nullopt;
    } else {
      std::vector<double> loads;
      program_->mesh.Visit([&](Node& node) { loads.push_back(program_->Load(node)); });
      return loads;
    }
  }

  Make make_;
  MeshOptions mesh_options_;
  detail::Balancer balancer_;
  std::unique_ptr<P> program_;
};

}  // namespace netuit
