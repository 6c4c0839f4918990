// The entrance to an object that one thread at a time uses, under every schedule.
#include <netuit/mesh/entrance.hpp>

#include <array>
#include <cstddef>
#include <numeric>

#include "tests/support/catch.hpp"
#include "tests/support/explored_atomic.hpp"
#include "tests/support/schedule_count.hpp"
#include "tests/support/schedule_explorer.hpp"
#include "tests/support/watched.hpp"

namespace {

using namespace uit::testing;

/// Each thread tries to use the object, as updates do, and then waits until it can, as the end of an update does.
template <std::size_t n, int num_tries>
struct ExclusiveUses {
  static constexpr std::size_t num_threads = n;

  netuit::detail::Entrance<Explored> entrance;
  Watched count{0};  // of all uses
  std::array<int, n> num_uses{};

  void Run(std::size_t thread) {
    for (int i = 0; i < num_tries; ++i) TryUse(thread);
    // Gives up after a few tries, so that the number of schedules stays finite.
    for (int tries = 0; tries < 2 && !TryUse(thread); ++tries) Explorer::Yield();
  }
  void Finish() {
    const int sum = std::accumulate(num_uses.begin(), num_uses.end(), 0);
    Explorer::Expect(sum > 0, "no thread was let in");
    Explorer::Expect(count.Value() == sum, "a use was lost");
    Explorer::Expect(entrance.TryEnter(), "a thread that has left is still inside");
  }

 private:
  bool TryUse(std::size_t thread) {
    if (!entrance.TryEnter()) return false;
    count = Watched{count.Value() + 1};
    ++num_uses[thread];
    entrance.Leave();
    return true;
  }
};

}  // namespace

TEST_CASE("One thread at a time uses an exclusive object under every schedule") {
  CheckExhausted<ExclusiveUses<2, 1>>("exclusive uses");
  CheckExhausted<ExclusiveUses<3, 0>>("exclusive uses, 3 threads", nightly_bound_of_many);
}
