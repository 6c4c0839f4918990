#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <netuit/mesh/layer_part.hpp>
#include <netuit/replay/worker_record.hpp>
#include <netuit/run/layer_traffic.hpp>

namespace netuit::detail {

/// How values and messages move around the updates of one worker. That worker only.
class Flow {
 public:
  /// Of what the worker exchanges, which it refers to.
  explicit Flow(LayerTraffic& traffic) : traffic_(traffic) {}
  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;
  virtual ~Flow() = default;

  /// Before the nodes are updated: what they are to see becomes visible. Throws what reading or writing a record throws.
  virtual void Reveal(std::uint64_t update) = 0;
  /// After the nodes have been updated: what they have written leaves.
  virtual void Send(std::uint64_t update) = 0;
  /// While all workers stand still, after the meeting that follows an update; true if they are to meet again before they go
  /// on, because each has changed what others look at.
  virtual bool CommitMeeting([[maybe_unused]] std::uint64_t update) { return false; }
  /// Whether a record that is replayed has no update left.
  virtual bool IsOver() { return false; }

 protected:
  LayerTraffic& Traffic() { return traffic_; }

 private:
  LayerTraffic& traffic_;
};

/// Best effort: nodes see what has arrived by then.
class BestEffortFlow final : public Flow {
 public:
  using Flow::Flow;
  void Reveal(std::uint64_t) override { Traffic().Pull(); }
  void Send(std::uint64_t update) override { Traffic().Send(update); }
};

/// Nothing moves.
class MutedFlow final : public Flow {
 public:
  using Flow::Flow;
  void Reveal(std::uint64_t) override {}
  void Send(std::uint64_t) override {}
};

/// Update by update: nodes see what was written in the update before, all of it, and nothing else.
class ByUpdateFlow final : public Flow {
 public:
  using Flow::Flow;
  void Reveal(std::uint64_t update) override { Traffic().SetStamp(update); }
  void Send(std::uint64_t update) override { Traffic().EndUpdate(update); }
  bool CommitMeeting(std::uint64_t update) override {
    Traffic().Refresh(update);
    return true;
  }
};

/// A flow that goes by a record, beside another that moves what it moves without one.
class RecordFlow : public Flow {
 public:
  RecordFlow(LayerTraffic& traffic, std::unique_ptr<Flow> live, bool is_best_effort)
      : Flow(traffic), live_(std::move(live)), is_best_effort_(is_best_effort) {}

  void Send(std::uint64_t update) final { live_->Send(update); }
  bool CommitMeeting(std::uint64_t update) final { return live_->CommitMeeting(update); }

 protected:
  Flow& Live() { return *live_; }
  bool IsBestEffort() const { return is_best_effort_; }

 private:
  std::unique_ptr<Flow> live_;
  bool is_best_effort_;
};

/// Writes down what is revealed, so that the run can be replayed.
class RecordingFlow final : public RecordFlow {
 public:
  using RecordFlow::RecordFlow;
  void Reveal(std::uint64_t update) override {
    if (IsBestEffort()) return Traffic().PullRecorded();
    Live().Reveal(update);  // first: the others wait for what this worker sends, whether that can be recorded or not
    Traffic().RecordUpdate();
  }
};

/// Reveals what is on record, update by update, to its end. If the run was one of best effort, nothing is sent: every receiver
/// goes by its own record.
class ReplayingFlow final : public RecordFlow {
 public:
  using RecordFlow::RecordFlow;
  void Reveal(std::uint64_t update) override {
    Live().Reveal(update);  // first: the others wait for what this worker sends, whether its record goes on or not
    Traffic().ReplayUpdate(IsBestEffort());
  }
  bool IsOver() override { return Traffic().IsRecordOver(); }
};

/// The flow of a run: live, recorded or replayed.
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
