// Ten million amounts go around a ring of processes. No unit is lost or counted twice.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/pmpi/watch.hpp"
#include "tests/uit/core/support/sanitized.hpp"
#include "tests/uit/mpi/support/ring.hpp"

using namespace uit;
using namespace uit::testing;

namespace {

constexpr std::uint64_t num_messages = is_slow_build ? 100'000 : 10'000'000;  // over all processes

using Amount = std::int64_t;
constexpr Policy solo{.retain = Retain::accumulate};
constexpr Policy pooled{.retain = Retain::accumulate, .consolidate = Consolidate::pooled};

/// A channel to the next process and one from the previous, and the amounts that they have moved.
template <Policy policy>
struct Channel {
  Channel(Process to_next, Process from_previous) : inlet(to_next), outlet(from_previous) {}

  void Put(Amount amount) {
    if (inlet.TryPut(amount)) sent += amount;
  }
  bool Step() {
    const bool has_stepped = outlet.TryStep() != 0;
    received += outlet.Get();
    return has_stepped;
  }

  Inlet<Amount, policy, TransportSet<Process>> inlet;
  Outlet<Amount, policy, TransportSet<Process>> outlet;
  Amount sent = 0;
  Amount received = 0;
};

/// Returns what the previous process has sent. Collective.
Amount SentToUs(const World& world, const RingPlace& place, Amount sent) {
  BytesByRank outgoing;
  const auto bytes = BytesOf(sent);
  outgoing[place.next].assign(bytes.begin(), bytes.end());
  return LoadBytes<Amount>(world.ExchangeSparsely(std::move(outgoing))[place.previous]);
}

template <Policy policy>
void RunRing(std::size_t num_channels, std::uint64_t step_every) {
  const World world = TheWorld();
  const RingPlace place{world};
  const auto number = [](std::size_t rank) { return static_cast<std::uint32_t>(rank); };
  Fabric fabric{world};
  std::vector<std::unique_ptr<Channel<policy>>> channels;
  for (std::size_t i = 0; i < num_channels; ++i) {
    Process to_next{.fabric = &fabric,
                    .peer = place.next,
                    .key = {.source = number(place.rank), .destination = number(place.next)},
                    .channel = i,
                    .num_channels = num_channels};
    Process from_previous = to_next;
    from_previous.peer = place.previous;
    from_previous.key = {.source = number(place.previous), .destination = number(place.rank)};
    channels.push_back(std::make_unique<Channel<policy>>(to_next, from_previous));
  }
  fabric.Connect();

  const std::uint64_t num_rounds = num_messages / world.Size() / num_channels;
  std::uint64_t dice = place.rank + 1;
  for (std::uint64_t round = 0; round < num_rounds; ++round) {
    for (auto& channel : channels) {
      dice = dice * 6364136223846793005U + 1442695040888963407U;
      channel->Put(static_cast<Amount>(dice >> 33U) - (Amount{1} << 30U));
    }
    if (round % step_every == 0) channels[(round / step_every) % num_channels]->Step();
  }
  CHECK(fabric.Close());
  Tally all;
  for (auto& channel : channels) {
    while (channel->Step()) {
    }
    CHECK(channel->received == SentToUs(world, place, channel->sent));
    const Tally tally = JoinTallies(world, place, channel->inlet.Tally(), channel->outlet.Tally());
    CHECK(tally.put.Accepted() == num_rounds);
    CHECK(tally.put.dropped == 0);
    CHECK(tally.get.folded == num_rounds - tally.get.stepped);
    CHECK(tally.Balanced());
    all += tally;
  }
  CHECK(all.get.stepped >= num_channels);
  CHECK(pmpi::NumPending() == 0);
}

}  // namespace

TEST_CASE("Amounts in frames of their own keep their total") { RunRing<solo>(1, 16); }
TEST_CASE("Amounts that share frames keep their total") { RunRing<pooled>(8, 4); }
TEST_CASE("Amounts that are rarely fetched keep their total") { RunRing<pooled>(3, 100'000); }
