// After warming up, exchanges allocate nothing, and buffers stay where their size is needed.

#include <array>
#include <cstddef>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/counted_memory.hpp"
#include "tests/uit/exchange/support/subjects.hpp"

using namespace uit;
using namespace uit::testing;

namespace {

struct Large {
  std::array<char, 100'000> bytes{};
};

template <typename T, Policy policy>
using Ends = typename ExchangeSubject<policy, ToOther>::template Pair<T>;

}  // namespace

TEST_CASE("A steady state allocates nothing") {
  Ends<int, every> a{4};
  Ends<int, latest> b{4};
  Ends<int, every_pooled> c{4};
  Ends<int, latest_pooled> d{4};
  Ends<int, accumulate> e{4};
  Ends<int, accumulate_pooled> f{4};
  Ends<int, every_aggregated> g{4};
  Ends<int, latest_aggregated> h{4};
  Ends<std::vector<int>, every> k{4};
  Ends<std::vector<int>, latest> l{4};
  Ends<std::vector<int>, every_aggregated> m{4};
  Ends<std::vector<int>, latest_aggregated> n{4};
  std::vector<int> row(40);
  const auto work = [&] {
    for (int i = 0; i < 500; ++i) {
      row.resize(static_cast<std::size_t>(i) % 40);
      const auto use = [&, i](auto& pair) {
        for (int burst = 0; burst < 1 + i % 7; ++burst) {
          if constexpr (requires { pair.TryPut(i); }) pair.TryPut(i);
          else pair.TryPut(row);
        }
        if (i % 3 == 0) pair.There().Poll();
        pair.TryStep(1 + static_cast<std::size_t>(i % 2));
        if (i % 11 == 0) pair.Settle();
        if (i % 13 == 0) pair.TryStep(no_limit);
      };
      use(a);
      use(b);
      use(c);
      use(d);
      use(m);
      use(n);
      use(e);
      use(f);
      use(g);
      use(h);
      use(k);
      use(l);
    }
  };
  work();
  const std::size_t before = num_allocations.load();
  work();
  CHECK(num_allocations.load() == before);
}

TEST_CASE("Small exchanges beside a large one keep small buffers and allocate nothing") {
  const std::size_t bytes_before = num_allocated_bytes.load();
  LoopbackNetwork network{1};
  Fabric fabric{network.World(0), {.num_slots = 4}};
  using W = TransportSet<Process>;
  Inlet<Large, latest, W> large_inlet{Process{.fabric = &fabric}};
  Outlet<Large, latest, W> large_outlet{Process{.fabric = &fabric}};
  std::vector<Inlet<int, every, W>> inlets;
  std::vector<Outlet<int, every, W>> outlets;
  for (std::uint64_t channel = 1; channel <= 50; ++channel) {
    inlets.emplace_back(Process{.fabric = &fabric, .key = {.channel = channel}});
    outlets.emplace_back(Process{.fabric = &fabric, .key = {.channel = channel}});
  }
  fabric.Connect();
  const Large large{};
  const auto work = [&] {
    for (int i = 0; i < 100; ++i) {
      large_inlet.TryPut(large);
      for (auto& inlet : inlets) inlet.TryPut(i);
      for (auto& outlet : outlets) outlet.TryStep(no_limit);
      large_outlet.TryStep();
    }
  };
  work();
  const std::size_t before = num_allocations.load();
  work();
  CHECK(num_allocations.load() == before);
  // Slots on the way there and back, and the large exchange's own.
  CHECK(num_allocated_bytes.load() - bytes_before < 40 * sizeof(Large));
}
