#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/exchange/pooled/accumulate_frame.hpp>
#include <uit/exchange/pull_reports.hpp>
#include <uit/exchange/receiving_half.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/out_port.hpp>

namespace uit {

class Fabric;

/// The outlets' half of an exchange under Retain::accumulate. Adds the messages that arrive to a sum per channel, and
/// reports pulled frames. A message that would make a sum overflow waits beside it until the sum has been taken. One
/// thread owns it.
class PooledAccumulateReceiver final : public ReceivingHalf {
 public:
  /// Frames arrive in `box` through `fabric`. If `fabric` is null, they come from this process.
  PooledAccumulateReceiver(AccumulateFrame layout, std::size_t depth, FoldFunction fold, std::shared_ptr<FrameBox> box,
                           OutPort report_port, Fabric* fabric)
      : ReceivingHalf(std::move(box), fabric),
        layout_(layout),
        report_layout_{layout.num_channels, layout.slot_bytes},
        fold_(fold),
        reports_(depth, std::move(report_port)),
        sums_(layout.SlotsBytes()),
        counts_(layout.num_channels) {}

  /// Reports the pulled frames to the inlets, if any are new. Always returns true.
  bool TryFlush() override {
    Report();
    return true;
  }
  bool TryFinish() override {
    Pull();
    return true;
  }
  /// Adds every frame that has arrived to the sums. Returns whether there was one. Throws if a frame is malformed.
  bool Pull() override;
  /// Moves a channel's sum to `sum`, which has the size of an encoded message. Returns the number of messages in it. If
  /// that is 0, `sum` is unchanged.
  std::uint64_t Take(std::size_t channel, std::byte* sum);
  /// Returns the number of messages of a channel that have arrived and wait.
  std::uint64_t NumUnread(std::size_t channel) const;

  /// Calls `visit(encoded sum)` for the channel's sum, if it has one, and for each that waits beside it.
  template <std::invocable<const std::byte*> F>
  void ForEachUnread(std::size_t channel, F&& visit) const {
    if (counts_[channel] != 0) visit(sums_.data() + channel * layout_.slot_bytes);
    for (const Aside& aside : aside_) {
      if (aside.channel == channel) visit(aside.sum.data());
    }
  }

  /// Reports the pulled frames to the inlets if any are new. With `always`, sends a report in any case, adds the counts
  /// and sums that wait at each outlet, and marks it as the end of an update.
  void Report(bool always = false) override;
  /// Reports if, as far as this side knows, half of the sender's window is used up. Otherwise waits for more to report.
  void ReportIfDue() override {
    if (reports_.IsDue()) Report();
  }
  /// Reports if many tries in a row found no message to step to.
  void ReportIfIdle() {
    if (reports_.IsIdle()) Report();
  }
  /// Sets the update number for reports that end an update from now on.
  void SetUpdate(std::uint64_t update) override { reports_.SetUpdate(update); }

 private:
  /// A sum that would have made the channel's sum overflow. Once the sender knows, it holds the channel back, so these
  /// are few.
  struct Aside {
    std::size_t channel;
    std::uint64_t count;
    std::vector<std::byte> sum;
  };

  std::byte* Sum(std::size_t channel) { return sums_.data() + channel * layout_.slot_bytes; }

  void AddUp(const Frame& frame);
  bool TryAdd(std::size_t channel, const std::byte* sum, std::uint64_t count);
  void PutAside(std::size_t channel, const std::byte* sum, std::uint64_t count);
  /// Called when a channel's sum has been taken: sums put aside may now find room.
  void AddAside(std::size_t channel);

  AccumulateFrame layout_;
  AccumulateReport report_layout_;
  FoldFunction fold_;
  PullReports reports_;
  std::vector<std::byte> sums_;
  std::vector<std::uint64_t> counts_;  // messages in sums_
  std::vector<Aside> aside_;
};

}  // namespace uit

#if !UIT_COMPILED
#include <uit/exchange/pooled/pooled_accumulate_receiver.ipp>
#endif
