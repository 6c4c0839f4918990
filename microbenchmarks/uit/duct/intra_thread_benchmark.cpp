// What does a put, a step and a get of 4 bytes cost within one thread, and what do an inlet and an
// outlet add to the bare duct?
//
// As in a simulation: one put into each of many conduits, then one step and one get from each.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <uit/conduit.hpp>
#include <uit/duct/ring_duct.hpp>
#include <uit/transport/transport_set.hpp>

#include "microbenchmarks/support/baselines.hpp"
#include "microbenchmarks/support/pair.hpp"
#include "microbenchmarks/support/program.hpp"

#if __has_include(<boost/circular_buffer.hpp>)
#include <boost/circular_buffer.hpp>
#define BENCH_HAS_CIRCULAR_BUFFER 1
#endif

namespace {

using Message = std::uint32_t;
constexpr std::size_t depth = 2;

/// Rings side by side in an arena, which frees them without destructors: numbers need none.
struct Ducts {
  using Duct = uit::RingDuct<Message, uit::Unsynchronized>;
  explicit Ducts(std::size_t number) : memory(number * stride / sizeof(std::max_align_t) + 1) {
    for (std::size_t i = 0; i < number; ++i) refs.push_back(Duct::OpenAt(&At(i), depth));
  }
  bool Put(std::size_t i, Message value) { return At(i).TryPut(value); }
  Message Take(std::size_t i) { return At(i).TryStep(1) > 0 ? At(i).Get() : 0; }
  Duct& At(std::size_t i) { return *reinterpret_cast<Duct*>(reinterpret_cast<std::byte*>(memory.data()) + i * stride); }
  std::size_t stride = Duct::NumBytes(depth);
  std::vector<std::max_align_t> memory;
  std::vector<uit::Ref<Duct>> refs;
};

template <typename TransportSet>
struct Ends {
  explicit Ends(std::size_t number) {
    for (std::size_t i = 0; i < number; ++i) {
      uit::Conduit<Message, uit::Policy{}, TransportSet> conduit{uit::Intra{.depth = depth}};
      inlets.push_back(std::move(conduit.inlet));
      outlets.push_back(std::move(conduit.outlet));
    }
  }
  bool Put(std::size_t i, Message value) { return inlets[i].TryPut(value); }
  Message Take(std::size_t i) { return outlets[i].TryStep() > 0 ? outlets[i].Get() : 0; }
  std::vector<uit::Inlet<Message, uit::Policy{}, TransportSet>> inlets;
  std::vector<uit::Outlet<Message, uit::Policy{}, TransportSet>> outlets;
};

struct PlainRings {
  explicit PlainRings(std::size_t number) : rings(number, bench::hand::PlainRing<Message>{depth}) {}
  bool Put(std::size_t i, Message value) { return rings[i].TryPush(value); }
  Message Take(std::size_t i) {
    Message value;
    return rings[i].TryPop(value) ? value : 0;
  }
  std::vector<bench::hand::PlainRing<Message>> rings;
};

#ifdef BENCH_HAS_CIRCULAR_BUFFER
struct CircularBuffers {
  explicit CircularBuffers(std::size_t number) : buffers(number, boost::circular_buffer<Message>{depth}) {}
  bool Put(std::size_t i, Message value) {
    if (buffers[i].full()) return false;
    buffers[i].push_back(value);
    return true;
  }
  Message Take(std::size_t i) {
    if (buffers[i].empty()) return 0;
    const Message value = buffers[i].front();
    buffers[i].pop_front();
    return value;
  }
  std::vector<boost::circular_buffer<Message>> buffers;
};
#endif

template <typename Conduits>
void Add(bench::Contest& contest, const std::string& name, std::size_t number) {
  const auto conduits = std::make_shared<Conduits>(number);
  const auto work = [conduits, number](std::uint64_t num_sweeps) {
    std::uint64_t sum = 0;
    for (std::uint64_t sweep = 0; sweep < num_sweeps; ++sweep) {
      for (std::size_t i = 0; i < number; ++i) conduits->Put(i, static_cast<Message>(sweep + 1));
      bench::Keep(*conduits);
      for (std::size_t i = 0; i < number; ++i) sum += conduits->Take(i);
      bench::Keep(*conduits);
    }
    if (sum != number * num_sweeps * (num_sweeps + 1) / 2) std::abort();
  };
  contest.Add(name, [work, number](const bench::Load& load) {
    const std::uint64_t num_sweeps = load.count / number + 1;
    const uit::TimePoint start = uit::Now();
    work(num_sweeps);
    const std::chrono::duration<double, std::nano> elapsed = uit::Now() - start;
    return elapsed.count() / static_cast<double>(num_sweeps * number);
  });
  contest.Count(name, [work, number](std::uint64_t count) { work(count / number); });
}

void Measure(bench::Program& program, bench::Team& team, std::size_t number) {
  const std::string name = "intra-thread put+get, 4 B, " + std::to_string(number) + " conduits";
  bench::Contest contest{name, bench::Unit::nanoseconds};
  contest.num_counted = 20 * number;
  Add<Ducts>(contest, "RingDuct", number);
  Add<PlainRings>(contest, "plain ring", number);
  Add<Ends<uit::InProcess>>(contest, "Inlet and Outlet", number);
  Add<Ends<uit::TransportSet<uit::Intra>>>(contest, "Inlet and Outlet, one-member wiring", number);
#ifdef BENCH_HAS_CIRCULAR_BUFFER
  Add<CircularBuffers>(contest, "boost circular_buffer", number);
  contest.Say({.name = name + ": to boost circular_buffer",
               .ours = "RingDuct",
               .against = {"boost circular_buffer"},
               .at_most = 0.75});
#endif
  contest.Say({.name = name + ": to a plain ring", .ours = "RingDuct", .against = {"plain ring"}, .at_most = 1.1});
  contest.Say({.name = name + ": Inlet and Outlet, to a plain ring",
               .ours = "Inlet and Outlet",
               .against = {"plain ring"},
               .at_most = 2.1});
  contest.Say({.name = name + ": one-member wiring, to a plain ring",
               .ours = "Inlet and Outlet, one-member wiring",
               .against = {"plain ring"},
               .at_most = 1.1});
  program.Run(contest, team);
}

}  // namespace

int main(int argc, char** argv) {
  bench::Program program{argc, argv};
  bench::Solo solo;
  // A number that fits the first cache, and that of a worker with 2048 nodes.
  for (const std::size_t number : {std::size_t{64}, std::size_t{8192}}) Measure(program, solo, number);
  return program.Finish();
}
