#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <uit/exchange/fabric.hpp>
#include <uit/inlet.hpp>
#include <uit/outlet.hpp>
#include <uit/transport/process.hpp>

#include "tests/support/loopback_world.hpp"
#include "tests/uit/exchange/support/policies.hpp"

namespace uit::testing {

/// Where an exchange runs: from a process to itself.
struct ToSelf {
  static constexpr std::size_t num_processes = 1;
  static constexpr std::size_t processes_per_host = 0;
};
/// Between two processes, each of which may have its thread.
struct ToOther {
  static constexpr std::size_t num_processes = 2;
  static constexpr std::size_t processes_per_host = 0;
};
/// Between two processes that share memory.
struct ToNear {
  static constexpr std::size_t num_processes = 2;
  static constexpr std::size_t processes_per_host = 2;
};

/// A conduit over an exchange over a loopback link or over shared memory, as its users would open it.
///
/// Where frames are shared, the conduit is one channel among three, whose others keep silent; each put is flushed.
template <Policy policy, typename Where>
struct ExchangeSubject {
  static constexpr Retain retain = policy.retain;
  static constexpr Backlog backlog = policy.backlog;
  static constexpr bool carries_values = false;
  static constexpr bool has_threads = true;

  template <typename T>
  struct Pair {
    using W = TransportSet<Process>;

    explicit Pair(std::size_t depth, T initial = T{}, FabricOptions options = {.num_slots = 3})
        : network(Where::num_processes, Where::processes_per_host) {
      for (std::size_t rank = 0; rank < Where::num_processes; ++rank)
        fabrics.push_back(std::make_unique<Fabric>(network.World(rank), options));
      const std::size_t num_channels = policy.consolidate == Consolidate::none ? 1 : 3;
      for (std::size_t channel = 0; channel < num_channels; ++channel) {
        Process reach{.fabric = &Here(),
                      .peer = fabrics.size() - 1,
                      .channel = channel,
                      .num_channels = num_channels,
                      .depth = depth,
                      .buffer_bytes = 256,
                      .num_frames = 2,
                      .max_message_bytes = 256};
        inlets.emplace_back(reach);
        reach.fabric = &There();
        reach.peer = 0;
        outlets.emplace_back(reach, initial);
      }
      Together([](Fabric& fabric) { fabric.Connect(); });
    }
    ~Pair() {
      Together([](Fabric& fabric) { fabric.Close(); });
    }

    bool TryPut(const T& message) {
      const bool is_accepted = inlets.back().TryPut(message);
      inlets.back().TryFlush();
      return is_accepted;
    }
    bool TryFlush() { return inlets.back().TryFlush(); }
    /// Polls for the other side too: it may have put its last message when there was no credit.
    std::size_t TryStep(std::size_t limit) {
      const std::size_t count = outlets.back().TryStep(limit);
      if (count == 0) Here().Poll();
      return count;
    }
    const T& Get() const { return outlets.back().Get(); }
    /// Sends what has had to wait; false if some of it still has to.
    bool TryFlushAll() { return inlets.back().TryFlush(); }
    void Settle() {
      for (int i = 0; i < 12; ++i) {
        inlets.back().TryFlush();
        outlets.back().Bound().Visit([](auto* duct) {
          duct->Exchange()->Pull();
          duct->Exchange()->TryFlush();
        });
        Here().Poll();
        There().Poll();
      }
    }
    uit::Tally Tally() {
      uit::Tally tally;
      tally += inlets.back().Tally();
      tally += outlets.back().Tally();
      return tally;
    }

    Fabric& Here() { return *fabrics.front(); }
    Fabric& There() { return *fabrics.back(); }
    template <typename F>
    void Together(F&& f) {
      network.Together([&](std::size_t rank) { f(*fabrics[rank]); });
    }

    LoopbackNetwork network;
    std::vector<std::unique_ptr<Fabric>> fabrics;
    std::vector<Inlet<T, policy, W>> inlets;
    std::vector<Outlet<T, policy, W>> outlets;
  };
};

/// The same, each message a row of its like, of some length.
template <Policy policy, typename Where>
struct RowSubject : ExchangeSubject<policy, Where> {
  template <typename T>
  struct Pair {
    explicit Pair(std::size_t depth, T initial = T{}) : rows(depth, std::vector<T>{initial}) {}

    bool TryPut(const T& message) { return rows.TryPut(std::vector<T>(1 + ++num_tries % 3, message)); }
    std::size_t TryStep(std::size_t limit) { return rows.TryStep(limit); }
    const T& Get() const { return rows.Get().back(); }
    bool TryFlushAll() { return rows.TryFlushAll(); }
    void Settle() { rows.Settle(); }
    uit::Tally Tally() { return rows.Tally(); }

    typename ExchangeSubject<policy, Where>::template Pair<std::vector<T>> rows;
    std::size_t num_tries = 0;
  };
};

}  // namespace uit::testing
