#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <uit/exchange/fabric.hpp>
#include <uit/inlet.hpp>
#include <uit/outlet.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>
#include <uit/support/pause.hpp>
#include <uit/tally.hpp>
#include <uit/transport/process.hpp>
#include <uit/transport/transport_set.hpp>

#include "table.hpp"

namespace gups {

/// The number of updates that a process has sent to another by the end of a run.
struct Total {
  std::uint64_t run = 0;       ///< from 1
  std::uint64_t num_sent = 0;  ///< since the first run
};

/// Sends updates through a conduit to each process; they share frames of `buffer_bytes`. No process waits until it has sent
/// all its updates.
class ByConduits {
 public:
  /// Opens the conduits. Collective.
  ByConduits(const uit::World& world, std::size_t buffer_bytes, bool shares_memory)
      : world_(world), fabric_(world, {.shares_memory = shares_memory}) {
    for (std::size_t peer = 0; peer < world.Size(); ++peer)
      lines_.push_back(std::make_unique<Line>(fabric_, world.Rank(), peer, buffer_bytes));
    fabric_.Connect();
  }

  /// Collective. Sends updates to the owners of their words, and applies arriving updates, until all have been applied. A run
  /// begins after every process has ended the one before.
  void Run(UpdateStream updates, std::uint64_t num_updates, Table& table) {
    for (std::uint64_t i = 0; i < num_updates; ++i) {
      if (i % updates_per_look == 0) ApplyArrived(table);
      const Update update = updates.Next();
      auto& inlet = lines_[table.OwnerOf(update)]->inlet;
      if (!inlet.TryPut(update))
        uit::WaitUntil([&] { return inlet.TryPut(update); }, uit::never, [&] { return ApplyArrived(table); });
    }
    ++run_;
    uit::WaitUntil([&] { return TryFinish(); }, uit::never, [&] { return ApplyArrived(table); });
  }

  /// Collective. Closes, and throws if a message is unaccounted for.
  void Close() {
    if (!fabric_.Close()) throw uit::Error("a process did not answer at the end");
    uit::BytesByRank outgoing;
    for (std::size_t peer = 0; peer < world_.Size(); ++peer) {
      const uit::PutTally puts = lines_[peer]->inlet.Tally();
      const uit::ByteView bytes = uit::BytesOf(puts);
      outgoing[peer].assign(bytes.begin(), bytes.end());
    }
    for (const auto& [peer, puts] : world_.ExchangeSparsely(std::move(outgoing))) {
      uit::Tally tally;
      tally += uit::LoadBytes<uit::PutTally>(puts);
      tally += lines_[peer]->outlet.Tally();
      if (!tally.Balanced()) throw uit::Error("the accounts of messages from rank " + std::to_string(peer) + " are not exact");
    }
  }

 private:
  static constexpr std::uint64_t updates_per_look = 1024;  // at what has arrived
  static constexpr uit::Policy aggregated{.consolidate = uit::Consolidate::aggregated};
  static constexpr uit::Policy newest{.retain = uit::Retain::latest};
  using W = uit::TransportSet<uit::Process>;

  /// The conduits between this process and another: updates, and at the end of a run their number.
  struct Line {
    Line(uit::Fabric& fabric, std::size_t here, std::size_t peer, std::size_t buffer_bytes)
        : inlet(Reach(fabric, 0, here, peer, peer, buffer_bytes)),
          outlet(Reach(fabric, 0, peer, here, peer, buffer_bytes)),
          total_inlet(Reach(fabric, 1, here, peer, peer, buffer_bytes)),
          total_outlet(Reach(fabric, 1, peer, here, peer, buffer_bytes)) {}

    static uit::Process Reach(uit::Fabric& fabric, std::uint32_t layer, std::size_t from, std::size_t to, std::size_t peer,
                              std::size_t buffer_bytes) {
      return {.fabric = &fabric,
              .peer = peer,
              .key = {.layer = layer, .source = static_cast<std::uint32_t>(from), .destination = static_cast<std::uint32_t>(to)},
              .depth = 16 * buffer_bytes / sizeof(Update),
              .buffer_bytes = buffer_bytes};
    }

    uit::Inlet<Update, aggregated, W> inlet;
    uit::Outlet<Update, aggregated, W> outlet;
    uit::Inlet<Total, newest, W> total_inlet;
    uit::Outlet<Total, newest, W> total_outlet;
    std::uint64_t num_applied = 0;
    std::uint64_t last_told = 0;  // run
  };

  /// Returns whether any update was applied.
  bool ApplyArrived(Table& table) {
    bool has_arrived = fabric_.Poll();
    std::array<Update, 256> some;
    for (auto& line : lines_) {
      // A word of the table is rarely in the cache. The processor fetches many at once if the accesses follow closely.
      std::size_t count = 0;
      do {
        for (count = 0; count < some.size() && line->outlet.TryStep() != 0; ++count) some[count] = line->outlet.Get();
        for (std::size_t i = 0; i < count; ++i) table.Apply(some[i]);
        line->num_applied += count;
        has_arrived |= count != 0;
      } while (count == some.size());
    }
    return has_arrived;
  }
  /// Whether all updates of this process have left, and all updates for it have arrived.
  bool TryFinish() {
    bool is_done = true;
    for (auto& line : lines_) {
      is_done &= line->inlet.TryFlush();
      if (line->last_told != run_) line->total_inlet.TryPut({.run = run_, .num_sent = line->inlet.Tally().Accepted()});
      line->last_told = run_;
      is_done &= line->total_inlet.TryFlush();
      line->total_outlet.Jump();
      const Total& total = line->total_outlet.Get();
      is_done &= total.run == run_ && total.num_sent == line->num_applied;
    }
    return is_done;
  }

  uit::World world_;
  uit::Fabric fabric_;
  std::vector<std::unique_ptr<Line>> lines_;  // by peer, with itself: a branch on the owner would often be mispredicted
  std::uint64_t run_ = 0;
};

}  // namespace gups
