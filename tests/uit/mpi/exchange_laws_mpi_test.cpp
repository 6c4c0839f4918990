// The laws of ducts over MPI and over shared memory. Each process has both ends, and all processes run the laws at once.

#include <chrono>
#include <tuple>
#include <utility>

#include "tests/support/catch.hpp"
#include "tests/support/duct_laws.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/uit/exchange/support/policies.hpp"
#include "tests/uit/mpi/support/ring.hpp"

using namespace uit;
using namespace uit::testing;

namespace {

template <Policy policy, bool shares_memory>
struct MpiSubject {
  static constexpr Retain retain = policy.retain;
  static constexpr Backlog backlog = policy.backlog;
  static constexpr bool carries_values = false;
  static constexpr bool has_threads = true;

  template <typename T>
  struct Pair {
    explicit Pair(std::size_t depth, T initial = T{})
        : world(MpiTestWorld()),  // one for all pairs, so that they reuse the same windows
          fabric(world, {.num_slots = 5, .shares_memory = shares_memory}),
          inlet(Reach(depth)),
          outlet(Reach(depth), initial) {
      fabric.Connect();
    }
    ~Pair() { CHECK(fabric.Close(After(std::chrono::seconds(60)))); }  // other processes may need much longer on a busy machine

    bool TryPut(const T& message) {
      const bool is_accepted = inlet.TryPut(message);
      inlet.TryFlush();
      return is_accepted;
    }
    std::size_t TryStep(std::size_t limit) { return outlet.TryStep(limit); }
    const T& Get() const { return outlet.Get(); }
    void Settle() {
      for (int i = 0; i < 30; ++i) {
        inlet.TryFlush();
        outlet.Bound().Visit([](auto* duct) {
          duct->Exchange()->Pull();
          duct->Exchange()->TryFlush();
        });
        fabric.Poll();
      }
    }
    uit::Tally Tally() { return (uit::Tally{} += inlet.Tally()) += outlet.Tally(); }

   private:
    Process Reach(std::size_t depth) { return {.fabric = &fabric, .peer = world.Rank(), .depth = depth}; }

    World world;
    Fabric fabric;
    Inlet<T, policy, TransportSet<Process>> inlet;
    Outlet<T, policy, TransportSet<Process>> outlet;
  };
};

template <bool shares_memory>
using Over = std::tuple<MpiSubject<Policy{}, shares_memory>, MpiSubject<latest, shares_memory>,
                        MpiSubject<accumulate, shares_memory>, MpiSubject<every_aggregated, shares_memory>,
                        MpiSubject<latest_aggregated, shares_memory>>;
using Subjects = decltype(std::tuple_cat(std::declval<Over<false>>(), std::declval<Over<true>>()));

}  // namespace

TEMPLATE_LIST_TEST_CASE("Conduits between processes keep the laws of ducts", "", Subjects) { CheckLaws<TestType>(); }
