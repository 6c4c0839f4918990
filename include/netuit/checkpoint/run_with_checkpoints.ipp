#pragma once

#include <string>

#include <netuit/checkpoint/checkpoint.hpp>
#include <netuit/checkpoint/run_with_checkpoints.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/run/run_in_parts.hpp>
#include <netuit/run/run_options.hpp>
#include <netuit/run/schedule.hpp>
#include <uit/config.hpp>
#include <uit/support/error.hpp>
#include <uit/support/function_ref.hpp>

namespace netuit::detail {

/// Saves a checkpoint after each part of a run.
class PartsWithCheckpoints final : public PartMaker {
 public:
  using RunPart = uit::FunctionRef<RunReport(const RunPlan&, const RunOptions&)>;

  PartsWithCheckpoints(Mesh& mesh, const CheckpointOptions& checkpoints, RunPart run_part)
      : mesh_(mesh), checkpoints_(checkpoints), run_part_(run_part) {}

  MeshCore& GetMesh() override { return mesh_; }
  RunReport Run(const RunPlan& plan, const RunOptions& options) override { return run_part_(plan, options); }
  void EndPart(bool) override {
    SaveCheckpoint(mesh_, checkpoints_.to, checkpoints_.notes);
    saved_ = "; the last checkpoint is " + checkpoints_.to.string() + ", of update " + std::to_string(mesh_.NumUpdates());
  }
  /// Returns words that name the last checkpoint, or nothing if there is none.
  const std::string& Saved() const { return saved_; }

 private:
  Mesh& mesh_;
  const CheckpointOptions& checkpoints_;
  RunPart run_part_;
  std::string saved_;
};

UIT_DEFINE RunReport RunSaving(Mesh& mesh, const RunPlan& plan, const RunOptions& options, const CheckpointOptions& checkpoints,
                               uit::FunctionRef<RunReport(const RunPlan&, const RunOptions&)> run_part) {
  if (checkpoints.to.empty()) throw uit::InputError("a run with checkpoints needs a folder for them; see CheckpointOptions::to");
  if (checkpoints.every.count() < 0) throw uit::InputError("CheckpointOptions::every must not be negative");
  if (!options.record.empty() || !options.replay.empty())
    throw uit::InputError("a run with checkpoints cannot be recorded or replayed");
  PartsWithCheckpoints parts(mesh, checkpoints, run_part);
  RunReport report = RunInParts(parts, plan, options, {.every = checkpoints.every, .every_updates = checkpoints.every_updates});
  if (report.stopped_by == StopReason::peer_lost || report.stopped_by == StopReason::thrown) report.message += parts.Saved();
  return report;
}

}  // namespace netuit::detail
