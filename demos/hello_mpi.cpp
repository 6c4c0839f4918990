// The threads of some processes form a ring. Each greets its right neighbour 100,000 times, and waits for nobody until
// the end.
//
//     mpirun -n 4 hello_mpi

#include <cstddef>
#include <cstdio>
#include <functional>

#include <uit/app/session.hpp>
#include <uit/team/member.hpp>
#include <uit/team/team.hpp>

struct Greeting {
  std::size_t from = 0;
  long number = 0;
};

int main(int argc, char** argv) {
  uit::mpi::Session session{argc, argv};
  const uit::Team team{session.World(), {.threads = 2}};
  return team.Run([](uit::Member& me) {
    // Only the newest greeting matters: it replaces an unread older one. Each member opens one end to each neighbour.
    auto right = me.InletTo<Greeting, uit::latest>(me.Right());
    auto left = me.OutletFrom<Greeting, uit::latest>(me.Left());
    me.Connect();  // collective; from here on messages flow

    constexpr long num_greetings = 100'000;
    for (long n = 1; n <= num_greetings; ++n) {
      right.TryPut({me.Rank(), n});  // never waits
      left.Jump();                   // steps to the newest message that has arrived, if any
    }
    const auto num_read = me.AllReduce(left.Tally().stepped, std::plus<>{});
    if (!me.IsRoot()) return;
    std::printf("%zu members sent %ld greetings each and read %lu in all; member %zu last read number %ld of member %zu\n", me.Size(),
                num_greetings, static_cast<unsigned long>(num_read), me.Rank(), left.Get().number, left.Get().from);
  });
}
