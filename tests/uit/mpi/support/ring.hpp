#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <uit/exchange/fabric.hpp>
#include <uit/inlet.hpp>
#include <uit/app/session.hpp>
#include <uit/outlet.hpp>
#include <uit/tally.hpp>
#include <uit/transport/process.hpp>
#include <uit/transport/transport_set.hpp>

namespace uit::testing {

/// All processes of this test.
inline World TheWorld() {
  int argc = 0;
  char** argv = nullptr;
  return mpi::Session{argc, argv}.World();
}

/// A message of `num_bytes` bytes, all of which follow from its number.
template <std::size_t num_bytes>
struct Load {
  static_assert(num_bytes % sizeof(std::uint64_t) == 0);
  std::array<std::uint64_t, num_bytes / sizeof(std::uint64_t)> words{};

  static Load Number(std::uint64_t number) {
    Load load;
    for (std::size_t i = 0; i < load.words.size(); ++i) load.words[i] = Word(number, i);
    return load;
  }
  std::uint64_t Number() const { return words[0]; }
  bool IsWhole() const {
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (words[i] != Word(words[0], i)) return false;
    }
    return true;
  }

 private:
  static std::uint64_t Word(std::uint64_t number, std::size_t i) {
    return i == 0 ? number : (number + i) * 0x9E3779B97F4A7C15U;
  }
};

/// The neighbours of this process in a ring of all processes.
struct RingPlace {
  explicit RingPlace(const World& world)
      : rank(world.Rank()), next((rank + 1) % world.Size()), previous((rank + world.Size() - 1) % world.Size()) {}
  std::size_t rank, next, previous;
};

/// A conduit to the next process of the ring and one from the previous, and their limits.
template <typename T, Policy policy>
class RingEnds {
 public:
  using W = TransportSet<Process>;

  RingEnds(Fabric& fabric, const RingPlace& place, Process options)
      : inlet(Reach(fabric, place.next, place.rank, place.next, options)),
        outlet(Reach(fabric, place.previous, place.previous, place.rank, options)) {}

  /// Puts the next number, until `last` has been put. Returns whether it was accepted.
  bool TryPut(std::uint64_t last) {
    if (num_put == last || !inlet.TryPut(T::Number(num_put + 1))) return false;
    ++num_put;
    return true;
  }
  /// Steps, and checks what came. Returns whether anything came.
  bool TryStep() {
    const std::size_t count = outlet.TryStep();
    if (count == 0) return false;
    const T& message = outlet.Get();
    is_right = is_right && message.IsWhole() && message.Number() > num_got &&
               (policy.retain == Retain::latest || message.Number() == num_got + 1);
    num_got = message.Number();
    return true;
  }

  Inlet<T, policy, W> inlet;
  Outlet<T, policy, W> outlet;
  std::uint64_t num_put = 0;
  std::uint64_t num_got = 0;
  bool is_right = true;

 private:
  static Process Reach(Fabric& fabric, std::size_t peer, std::size_t source, std::size_t destination, Process options) {
    options.fabric = &fabric;
    options.peer = peer;
    options.key.source = static_cast<std::uint32_t>(source);
    options.key.destination = static_cast<std::uint32_t>(destination);
    return options;
  }
};

/// Returns the tallies of the messages from the previous process: its puts, and our gets. Collective.
inline Tally JoinTallies(const World& world, const RingPlace& place, const PutTally& puts, const GetTally& gets) {
  BytesByRank outgoing;
  const auto bytes = BytesOf(puts);
  outgoing[place.next].assign(bytes.begin(), bytes.end());
  const Bytes received = world.ExchangeSparsely(std::move(outgoing))[place.previous];
  Tally tally;
  tally += LoadBytes<PutTally>(received);
  tally += gets;
  return tally;
}

}  // namespace uit::testing
