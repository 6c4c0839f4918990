#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <netuit/checkpoint/run_with_checkpoints.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/node.hpp>
#include <netuit/resilience/recovery.hpp>
#include <netuit/run/mesh_program.hpp>
#include <netuit/run/run.hpp>
#include <netuit/run/run_options.hpp>
#include <netuit/run/schedule.hpp>
#include <uit/config.hpp>
#include <uit/support/function_ref.hpp>
#include <uit/team/team.hpp>

namespace netuit {

/// A program that goes on if processes end: the others take over their nodes.
///
///     struct Heat {
///       explicit Heat(const uit::Team& team) : mesh(team, netuit::Torus(512, 512)) {}
///       void Update(netuit::Node& node) { … theta[node] = … }
///       netuit::Mesh mesh;
///       netuit::PublishedField<double> theta = mesh.AddPublishedField<double>();
///     };
///     const auto make = [](const uit::Team& on) { return std::make_unique<Heat>(on); };
///     netuit::Resilient<Heat> heat(team, make, {.to = "heat.ckpt", .every = 10s});
///     heat.Run(netuit::Free{.duration = 1h});
///     heat->mesh.WriteTable("theta.csv", netuit::Column{"theta", heat->theta});
///
/// A run saves a checkpoint when it begins, after each part, and when it ends; see CheckpointOptions. If a process ends, the others
/// go on without it to the end of the part. Then they meet, `make` makes a second program on a team of the remaining processes, and
/// that program gets the state of the first one. Nodes of the ended process get their values of the last checkpoint, and the others
/// keep theirs; see TakeOver. The first program is destroyed. While both exist, each process needs memory for both.
///
/// With EveryUpdate and Dataflow, the others stop at once, and all nodes go back to the last checkpoint. The results are then those
/// of a run that has lost no process, under the conditions of LoadCheckpoint.
///
/// All processes must be on one host whose system tells which have ended (Linux 5.3 or later). A silent process is not replaced:
/// the run ends as without this class. The launcher must let the others live, as tools/run does for Open MPI 4. Shared memory of
/// meshes that have lost a process is freed when the processes end.
///
/// After a loss, `team` is of no use, because its collective calls throw: use GetTeam. Messages that name a rank mean the rank in
/// the present team.
///
/// Handles belong to the mesh that they were made of. So keep them in the program, and reach them through this object. Data of
/// the program outside its mesh is made anew. A placement that `make` chooses must be of the team that it is given.
template <MeshProgram P>
class Resilient final : private detail::ResilientKeeper {
 public:
  /// Makes a program of this team. Collective. It must always make the same graph, fields and channels.
  using Make = std::function<std::unique_ptr<P>(const uit::Team&)>;

  /// Makes the first program, on the processes of `team`. Collective. Throws uit::InputError if an option is invalid, and what
  /// `make` throws.
  Resilient(const uit::Team& team, Make make, CheckpointOptions checkpoints)
      : make_(std::move(make)), recovery_(*this, team, std::move(checkpoints)), program_(make_(recovery_.GetTeam())) {}

  /// Returns the present program. After a run it may be another one than before.
  P& operator*() { return *program_; }
  /// Returns a pointer to the present program, likewise.
  P* operator->() { return program_.get(); }
  /// Returns the processes that are left.
  const uit::Team& GetTeam() const { return recovery_.GetTeam(); }

  /// Runs like RunWithCheckpoints, and goes on if processes end. After a loss, update numbers go on from the largest of any
  /// process. So in modes 1 to 3, a process that noticed the loss before it began a part skips those updates that others have made
  /// in that part. After a loss in the last part, these modes make that part again, so that the nodes that were taken over come to the
  /// end, too: the others then make more updates than planned, and a run that a clock ends takes longer.
  ///
  /// The report is of the whole run, and of the workers that are left, numbered as in the present team. Their accounts count since
  /// the first mesh was made: what they have put into channels is exact, and messages that were lost with a process stay in flight.
  /// A message that waits when a program is replaced counts as unread, and then as put once more. `lost_peers` has the ranks in the
  /// first team. Without another reason, ExitCode is 0, because all nodes have come to the end.
  ///
  /// Collective. Throws like RunWithCheckpoints, and uit::InputError if the mesh has captures or shared objects. Throws
  /// uit::PeerLost if a process ends before the first checkpoint is complete. If the remaining processes do not meet within
  /// peer_timeout and the time of a part together, the run ends as without this class. The time of a part is
  /// CheckpointOptions::every, or twice the longest part so far if that is longer.
  template <ScheduleValue S>
  RunReport Run(const S& schedule, const RunOptions& options = {}) {
    return recovery_.RunAll(schedule.MakePlan(), options);
  }

  /// Returns all losses so far.
  const std::vector<Loss>& Losses() const { return recovery_.Losses(); }

 private:
  Mesh& GetMesh() override { return program_->mesh; }
  void Replace(const uit::Team& team, uit::FunctionRef<void(Mesh&, Mesh&)> move) override {
    std::unique_ptr<P> next = make_(team);
    move(program_->mesh, next->mesh);
    program_ = std::move(next);
  }
  RunReport RunPart(const RunPlan& plan, const RunOptions& options) override {
    P& program = *program_;
    return program.mesh.Run(plan, [&program](Node& node) { program.Update(node); }, options);
  }

  Make make_;
  detail::Recovery recovery_;
  std::unique_ptr<P> program_;
};

}  // namespace netuit
