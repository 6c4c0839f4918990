#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <netuit/mesh/layer_part.hpp>
#include <netuit/replay/worker_record.hpp>
#include <netuit/run/layer_traffic.hpp>

namespace netuit::detail {

/// Moves values and messages before and after each update of one worker. That worker only.
class Flow {
 public:
  /// Refers to the worker's traffic.
  explicit Flow(LayerTraffic& traffic) : traffic_(traffic) {}
  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;
  virtual ~Flow() = default;

  /// Called before the nodes are updated: makes visible what they are to see. Throws what reading or writing a record throws.
  virtual void Reveal(std::uint64_t update) = 0;
  /// Called after the nodes have been updated: sends what they have written.
  virtual void Send(std::uint64_t update) = 0;
  /// Whether a replayed record has no updates left.
  virtual bool IsOver() { return false; }

 protected:
  LayerTraffic& Traffic() { return traffic_; }

 private:
  LayerTraffic& traffic_;
};

/// Best effort: nodes see what has arrived so far.
class BestEffortFlow final : public Flow {
 public:
  using Flow::Flow;
  void Reveal(std::uint64_t update) override { Traffic().Pull(update); }
  void Send(std::uint64_t update) override { Traffic().Send(update); }
};

/// Moves nothing.
class MutedFlow final : public Flow {
 public:
  using Flow::Flow;
  void Reveal(std::uint64_t update) override { Traffic().Cut(update); }
  void Send(std::uint64_t) override {}
};

/// Modes 0 and 5: nodes see exactly what was written in the previous update.
class ByUpdateFlow final : public Flow {
 public:
  using Flow::Flow;
  void Reveal(std::uint64_t update) override {
    Traffic().Cut(update);
    Traffic().SetStamp(update);
  }
  void Send(std::uint64_t update) override { Traffic().EndUpdate(update); }
};

/// A flow that uses a record. A second flow, `live`, moves what would move without a record.
class RecordFlow : public Flow {
 public:
  RecordFlow(LayerTraffic& traffic, std::unique_ptr<Flow> live, bool is_best_effort)
      : Flow(traffic), live_(std::move(live)), is_best_effort_(is_best_effort) {}

  void Send(std::uint64_t update) final { live_->Send(update); }

 protected:
  Flow& Live() { return *live_; }
  bool IsBestEffort() const { return is_best_effort_; }

 private:
  std::unique_ptr<Flow> live_;
  bool is_best_effort_;
};

/// Records what becomes visible, so that the run can be replayed.
class RecordingFlow final : public RecordFlow {
 public:
  using RecordFlow::RecordFlow;
  void Reveal(std::uint64_t update) override {
    if (IsBestEffort()) return Traffic().PullRecorded(update);
    Live().Reveal(update);  // first, because the others wait for what this worker sends, even if recording fails
    Traffic().Record().AddUpdate();
  }
};

/// Shows the recorded values, update by update, to the end of the record. In a replay of a best-effort run nothing is sent,
/// because every receiver replays its own record.
class ReplayingFlow final : public RecordFlow {
 public:
  using RecordFlow::RecordFlow;
  void Reveal(std::uint64_t update) override {
    Live().Reveal(update);  // first, because the others wait for what this worker sends, even if its record has ended
    Traffic().Record().TakeUpdate();
    if (IsBestEffort()) Traffic().ReplayValues();
  }
  bool IsOver() override { return Traffic().Record().IsOver(); }
};

/// Makes the flow of a run: live, recording or replaying.
inline std::unique_ptr<Flow> MakeFlow(LayerTraffic& traffic, const Delivery& delivery, const replay::WorkerRecord& record) {
  const bool is_best_effort = !delivery.is_by_update && !delivery.is_muted;
  std::unique_ptr<Flow> flow;
  if (delivery.is_by_update) flow = std::make_unique<ByUpdateFlow>(traffic);
  else if (delivery.is_muted || record.reader != nullptr) flow = std::make_unique<MutedFlow>(traffic);
  else flow = std::make_unique<BestEffortFlow>(traffic);
  if (record.writer != nullptr) return std::make_unique<RecordingFlow>(traffic, std::move(flow), is_best_effort);
  if (record.reader != nullptr) return std::make_unique<ReplayingFlow>(traffic, std::move(flow), is_best_effort);
  return flow;
}

}  // namespace netuit::detail
