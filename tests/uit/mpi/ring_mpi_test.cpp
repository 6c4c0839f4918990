// Processes in a ring, each putting to the next without a pause: no message is lost, repeated, reordered or torn, and the
// accounts are exact.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/pmpi/watch.hpp"
#include "tests/uit/core/support/sanitized.hpp"
#include "tests/uit/exchange/support/policies.hpp"
#include "tests/uit/mpi/support/ring.hpp"

using namespace uit;
using namespace uit::testing;
using namespace std::chrono_literals;

namespace {

// Over all processes, unless the machine is too busy for that many.
constexpr std::uint64_t num_messages = is_slow_build ? 100'000 : 500'000;
constexpr auto time_for_puts = is_slow_build ? 500ms : 1500ms;
// That many messages of each channel must arrive, however busy the machine is and under any sanitizer.
constexpr std::uint64_t num_required = 1000;
constexpr auto patience = 60s;

struct Flood {
  std::size_t num_channels = 1;
  std::size_t num_silent = 0;  // number of silent channels
  std::size_t depth = 64;
  std::uint64_t flush_every = 0;  // in messages of a channel
  bool shares_memory = true;
};

template <Policy policy>
void RunRingOver(const Flood& flood) {
  using Ends = RingEnds<Load<64>, policy>;
  const World world = TheWorld();
  const RingPlace place{world};
  const std::uint64_t last = num_messages / world.Size() / (flood.num_channels - flood.num_silent);
  Fabric fabric{world, {.num_slots = 64, .shares_memory = flood.shares_memory}};
  std::vector<std::unique_ptr<Ends>> channels;
  for (std::size_t channel = 0; channel < flood.num_channels; ++channel) {
    channels.push_back(std::make_unique<Ends>(
        fabric, place, Process{.channel = channel, .num_channels = flood.num_channels, .depth = flood.depth}));
  }
  fabric.Connect();

  const std::size_t num_speaking = flood.num_channels - flood.num_silent;
  bool has_moved = false;
  const auto work_to = [&](std::uint64_t number, Deadline deadline) {
    const auto work = [&] {
      has_moved = false;
      bool is_over = true;
      for (std::size_t channel = 0; channel < num_speaking; ++channel) {
        Ends& ends = *channels[channel];
        has_moved |= ends.TryPut(last);
        for (int i = 0; i < 16 && ends.TryStep(); ++i) has_moved = true;
        is_over = is_over && ends.num_put >= number && ends.num_got >= number;
      }
      Ends& first = *channels.front();
      if (flood.flush_every != 0 && (first.num_put % flood.flush_every == 0 || first.num_put == last))
        first.inlet.TryFlush();
      return is_over;
    };
    return WaitUntil(work, deadline, [&] { return has_moved; });
  };
  work_to(last, After(time_for_puts));
  CHECK(work_to(num_required, After(patience)));
  CHECK(fabric.Close(After(patience)));  // other processes may still be busy
  for (auto& ends : channels) {
    while (ends->TryStep()) {
    }
    CHECK(ends->is_right);
    CHECK(ends->inlet.Tally().Accepted() == ends->num_put);
    const Tally tally = JoinTallies(world, place, ends->inlet.Tally(), ends->outlet.Tally());
    CHECK(tally.Balanced());
    CHECK(ends->num_got == tally.put.Accepted());  // the newest message arrives in any case
    if (policy.retain == Retain::latest) CHECK(tally.put.dropped == 0);
    if (policy.retain == Retain::every) CHECK(tally.get.stepped == tally.put.Accepted());
  }
  CHECK(pmpi::NumPending() == 0);
}

template <Policy policy>
void RunRing(Flood flood) {
  for (const bool shares_memory : {true, false}) {
    flood.shares_memory = shares_memory;
    RunRingOver<policy>(flood);
  }
}

}  // namespace

TEST_CASE("Every message passes round the ring") { RunRing<every>({}); }
TEST_CASE("Every message passes round the ring, one at a time") { RunRing<every>({.depth = 1}); }
TEST_CASE("The newest message passes round the ring") { RunRing<latest>({}); }
TEST_CASE("Pools of every message pass round the ring") { RunRing<every_pooled>({.num_channels = 4}); }
TEST_CASE("Pools of the newest messages pass round the ring") { RunRing<latest_pooled>({.num_channels = 4}); }
TEST_CASE("Pools with a silent member pass when flushed") {
  RunRing<every_pooled>({.num_channels = 4, .num_silent = 1, .flush_every = 1});
  RunRing<latest_pooled>({.num_channels = 4, .num_silent = 1, .flush_every = 8});
}
