#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <netuit/mesh/layer_part.hpp>
#include <netuit/replay/tape.hpp>
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

  /// Before the nodes are updated: what they are to see becomes visible. False: they cannot be.
  virtual bool TryReveal(std::uint64_t update) = 0;
  /// After the nodes have been updated: what they have written leaves.
  virtual void Send(std::uint64_t update) = 0;
  /// While all workers stand still, after the meeting that follows an update; true if they are to meet again before they go
  /// on, because each has changed what others look at.
  virtual bool CommitMeeting([[maybe_unused]] std::uint64_t update) { return false; }
  /// After the last update.
  virtual void End() {}
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
  bool TryReveal(std::uint64_t) override {
    Traffic().Pull();
    return true;
  }
  void Send(std::uint64_t update) override { Traffic().Send(update); }
};

/// Nothing moves.
class MutedFlow final : public Flow {
 public:
  using Flow::Flow;
  bool TryReveal(std::uint64_t) override { return true; }
  void Send(std::uint64_t) override {}
};

/// Update by update: nodes see what was written in the update before, all of it, and nothing else.
class ByUpdateFlow final : public Flow {
 public:
  using Flow::Flow;
  bool TryReveal(std::uint64_t update) override {
    if (update != 0) Traffic().ShowWritten(update);
    Traffic().SetStamp(update);
    return true;
  }
  void Send(std::uint64_t update) override { Traffic().EndUpdate(update); }
  bool CommitMeeting(std::uint64_t update) override {
    Traffic().Refresh(update);
    has_updated_ = true;
    return true;
  }
  void End() override {
    if (has_updated_) Traffic().ShowWritten(drain_update);
  }

 private:
  bool has_updated_ = false;
};

/// Writes down what another flow reveals, so that the run can be replayed.
class RecordingFlow final : public Flow {
 public:
  RecordingFlow(LayerTraffic& traffic, std::unique_ptr<Flow> recorded, bool is_best_effort)
      : Flow(traffic), recorded_(std::move(recorded)), is_best_effort_(is_best_effort) {}

  bool TryReveal(std::uint64_t update) override {
    if (!is_best_effort_) return Traffic().RecordUpdate(), recorded_->TryReveal(update);
    Traffic().PullRecorded();
    return true;
  }
  void Send(std::uint64_t update) override { recorded_->Send(update); }
  bool CommitMeeting(std::uint64_t update) override { return recorded_->CommitMeeting(update); }
  void End() override { recorded_->End(); }

 private:
  std::unique_ptr<Flow> recorded_;
  bool is_best_effort_;
};

/// Reveals what is on record, update by update, to its end. Of a run by best effort nothing is sent: every receiver goes by
/// its own record.
class ReplayingFlow final : public Flow {
 public:
  ReplayingFlow(LayerTraffic& traffic, std::unique_ptr<Flow> replayed, bool is_best_effort)
      : Flow(traffic), replayed_(std::move(replayed)), is_best_effort_(is_best_effort) {}

  bool TryReveal(std::uint64_t update) override {
    Traffic().ReplayUpdate(is_best_effort_);
    return replayed_->TryReveal(update);
  }
  void Send(std::uint64_t update) override { replayed_->Send(update); }
  bool CommitMeeting(std::uint64_t update) override { return replayed_->CommitMeeting(update); }
  void End() override { replayed_->End(); }
  bool IsOver() override { return Traffic().IsRecordOver(); }

 private:
  std::unique_ptr<Flow> replayed_;
  bool is_best_effort_;
};

/// The flow of a run: live, recorded or replayed.
inline std::unique_ptr<Flow> MakeFlow(LayerTraffic& traffic, const Delivery& delivery, const replay::Tape& tape) {
  const bool is_best_effort = !delivery.is_by_update && !delivery.is_muted;
  std::unique_ptr<Flow> flow;
  if (delivery.is_by_update) flow = std::make_unique<ByUpdateFlow>(traffic);
  else if (delivery.is_muted || tape.reader != nullptr) flow = std::make_unique<MutedFlow>(traffic);
  else flow = std::make_unique<BestEffortFlow>(traffic);
  if (tape.writer != nullptr) return std::make_unique<RecordingFlow>(traffic, std::move(flow), is_best_effort);
  if (tape.reader != nullptr) return std::make_unique<ReplayingFlow>(traffic, std::move(flow), is_best_effort);
  return flow;
}

}  // namespace netuit::detail
