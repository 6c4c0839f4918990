#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <uit/codec/span_codec.hpp>
#include <uit/exchange/aggregated/aggregated_duct.hpp>
#include <uit/exchange/pooled/accumulate_channel_duct.hpp>
#include <uit/exchange/pooled/channel_duct.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/frame_trace.hpp>
#include <uit/link/connection.hpp>

#include "tests/fuzz/fuzz.hpp"

/// The receiving halves of all exchanges, driven by an input.
namespace uit::fuzz {

inline constexpr std::size_t num_channels = 3;
inline constexpr std::size_t depth = 4;
inline constexpr std::size_t num_frames = 2;

/// A piece of the input: a frame that arrives, or an action between frames.
struct Piece {
  std::uint8_t entry = 0;  ///< box, or end
  std::uint8_t kind = 0;   ///< a FrameKind; any other value: no frame
  std::uint8_t last = 0;
  std::uint8_t shift = 0;  ///< shift of the base
  std::uint16_t base = 0;
  std::uint16_t num_bytes = 0;  ///< length that the header claims; that many bytes follow, if the input has them
};
static_assert(sizeof(Piece) == 8);

/// Ends that the input's frames go to, and what was read from them.
class Peer {
 public:
  Peer() {
    AddPooled<Retain::every>(EveryFrame{num_channels, 4}, depth, false);
    AddPooled<Retain::every>(EveryFrame{1, 4}, depth, true);
    AddPooled<Retain::latest>(LatestFrame{num_channels, 4}, 0, false);
    AddAccumulate();
    AddAggregated<std::uint32_t, Retain::every>(4, false);
    AddAggregated<std::vector<std::uint16_t>, Retain::every>(0, true);
    AddAggregated<std::uint32_t, Retain::latest>(4, true);
    AddAggregated<std::vector<std::uint16_t>, Retain::latest>(0, false);
    AddSenders();
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  std::vector<std::unique_ptr<IncomingBox>>& Boxes() { return boxes_; }
  /// Acts on one of the ends.
  void Act(const Piece& piece) { actions_[piece.entry % actions_.size()](piece); }

 private:
  static OutPort Nowhere() { return OutPort{FrameBox::Latest()}; }

  std::shared_ptr<FrameBox> AddBox(std::shared_ptr<FrameBox> box, std::size_t frame_bytes) {
    auto incoming = std::make_unique<IncomingBox>();
    incoming->box = box;
    incoming->frame_bytes = frame_bytes;
    boxes_.push_back(std::move(incoming));
    return box;
  }
  template <typename Half>
  void Trace(Half& half, bool is_traced) {
    if (!is_traced) return;
    traces_.push_back(std::make_unique<FrameTrace>(clock_));
    half.TraceBy(traces_.back().get());
  }
  template <typename D>
  void AddOutlet(std::shared_ptr<D> duct) {
    actions_.push_back([this, duct](const Piece& piece) {
      if (piece.last % 4 == 0) duct->Exchange()->Pull();
      if (piece.last % 4 == 1) duct->Exchange()->TryFlush();
      if (duct->TryStep(1 + piece.base) != 0) Use(duct->Get());
    });
  }
  template <Retain retain, typename Layout>
  void AddPooled(Layout layout, std::size_t num_messages, bool is_traced) {
    const std::size_t frame_bytes = layout.MaxBytes() + (is_traced ? FrameTrace::num_bytes : 0);
    std::shared_ptr<PooledReceiver<retain>> receiver;
    if constexpr (retain == Retain::every) {
      const auto box = AddBox(FrameBox::Every(FrameWindow::BoxDepth(depth)), frame_bytes);
      receiver = std::make_shared<PooledReceiver<retain>>(layout, num_messages, box, Nowhere(), nullptr);
    } else {
      receiver = std::make_shared<PooledReceiver<retain>>(layout, AddBox(FrameBox::Latest(), frame_bytes), nullptr);
    }
    Trace(*receiver, is_traced);
    for (std::size_t channel = 0; channel < layout.num_channels; ++channel)
      AddOutlet(std::make_shared<ChannelOutletDuct<std::uint32_t, retain>>(receiver, channel, 0U));
  }
  void AddAccumulate() {
    const AccumulateFrame layout{num_channels, sizeof(int)};
    const auto box = AddBox(FrameBox::Every(FrameWindow::BoxDepth(depth)), layout.MaxBytes());
    const auto receiver =
        std::make_shared<PooledAccumulateReceiver>(layout, depth, &FoldEncoded<int>, box, Nowhere(), nullptr);
    for (std::size_t channel = 0; channel < num_channels; ++channel)
      AddOutlet(std::make_shared<AccumulateOutletDuct<int>>(receiver, channel, 0));
  }
  static AggregatedOptions Options(std::size_t message_bytes) {
    return {.num_channels = num_channels,
            .message_bytes = message_bytes,
            .max_message_bytes = 64,
            .payload_bytes = 96,
            .depth = depth,
            .num_frames = num_frames};
  }
  template <typename T, Retain retain>
  void AddAggregated(std::size_t message_bytes, bool is_traced) {
    const AggregatedOptions options = Options(message_bytes);
    const std::size_t frame_bytes = options.payload_bytes + (is_traced ? FrameTrace::num_bytes : 0);
    const auto box = AddBox(FrameBox::Every(FrameWindow::BoxDepth(num_frames)), frame_bytes);
    const auto receiver = std::make_shared<AggregatedReceiver<retain>>(options, box, Nowhere(), nullptr);
    Trace(*receiver, is_traced);
    constexpr Policy policy{.retain = retain, .consolidate = Consolidate::aggregated};
    for (std::size_t channel = 0; channel < num_channels; ++channel) {
      const auto duct = std::make_shared<AggregatedOutletDuct<T, policy>>(receiver, channel, T{});
      AddOutlet(duct);
      if constexpr (retain == Retain::every)
        actions_.push_back([duct](const Piece&) { Demand(duct->NumUnread() <= depth, "no more waits than the window allows"); });
    }
  }
  /// Sending halves, whose reports tell how far their messages have come.
  void AddSenders() {
    const EveryFrame every{num_channels, 4};
    const auto every_reports = AddBox(FrameBox::Latest(), ReportFrame{num_channels}.MaxBytes());
    const auto every_sender = std::make_shared<PooledEverySender>(every, depth, Nowhere(), every_reports);
    const auto inlet = std::make_shared<ChannelInletDuct<std::uint32_t, Retain::every>>(every_sender, 1);
    actions_.push_back([inlet](const Piece& piece) { inlet->TryPut(piece.base) && inlet->TryFlush(); });

    const AccumulateFrame sums{num_channels, sizeof(int)};
    const auto sum_reports = AddBox(FrameBox::Latest(), AccumulateReport{num_channels, sizeof(int)}.MaxBytes());
    const auto sum_sender =
        std::make_shared<PooledAccumulateSender>(sums, depth, &FoldEncoded<int>, Nowhere(), sum_reports);
    const auto sum_inlet = std::make_shared<AccumulateInletDuct<int>>(sum_sender, 1);
    actions_.push_back([sum_inlet, sum_sender](const Piece& piece) {
      sum_sender->Hold(piece.last % 2 != 0);
      sum_sender->RefreshReport(0);
      sum_inlet->TryPut(piece.base) && sum_inlet->TryFlush();
      if (piece.last % 4 == 3) sum_sender->TryEndUpdate();
    });

    const auto rows_reports = AddBox(FrameBox::Latest(), ReportFrame{num_channels}.MaxBytes());
    const auto rows_sender = std::make_shared<AggregatedEverySender>(Options(0), Nowhere(), rows_reports);
    constexpr Policy policy{.consolidate = Consolidate::aggregated};
    const auto rows = std::make_shared<AggregatedInletDuct<std::vector<std::uint16_t>, policy>>(rows_sender, 1);
    actions_.push_back([rows, rows_sender](const Piece& piece) {
      rows_sender->Hold(piece.last % 2 != 0);
      rows_sender->RefreshReport(0);
      rows->TryPut(std::vector<std::uint16_t>(piece.base % 32)) && rows->TryFlush();
    });
  }
  template <typename T>
  void Use(const T& message) {
    if constexpr (requires { message.size(); }) sum_ += message.empty() ? 0U : message.back();
    else sum_ += static_cast<std::uint64_t>(message);
  }

  TraceClock clock_{};
  std::vector<std::unique_ptr<FrameTrace>> traces_;
  std::vector<std::unique_ptr<IncomingBox>> boxes_;
  std::vector<std::function<void(const Piece&)>> actions_;
  std::uint64_t sum_ = 0;
};

}  // namespace uit::fuzz
