// A ring of threads and processes: each greets its right neighbour as often as it can. Nobody waits.
#include <cstdio>
#include <functional>

#include <netuit/app/main.hpp>
#include <uit/team/member.hpp>

struct Greeting { std::size_t from = 0; long number = 0; };

int main(int argc, char** argv) {
  return netuit::Main(argc, argv, {.threads = 2}, [](uit::Team& team) {
    return team.Run([](uit::Member& me) {
      auto right = me.InletTo<Greeting, uit::latest>(me.Right());
      auto left = me.OutletFrom<Greeting, uit::latest>(me.Left());
      me.Connect();
      for (long n = 0; n < 1000; ++n) { right.TryPut({me.Rank(), n}); left.Jump(); }
      const auto read = me.AllReduce(left.Tally().stepped, std::plus<>{});
      if (me.IsRoot()) std::printf("%zu members, %ld greetings read\n", me.Size(), static_cast<long>(read));
    });
  });
}
