// A ring of threads and processes: each greets its right neighbour as often as it can. Every second one is slow. Nobody waits.
//
//     ring [FOLDER]                  four threads
//     mpirun -n 2 ring [FOLDER]      two processes with four threads each
//
// Writes ring.csv to FOLDER: the process of each member, how many greetings it has sent, and how many it has read.
#include <chrono>
#include <cstdio>
#include <numeric>
#include <string>
#include <thread>

#include <netuit/app/main.hpp>
#include <netuit/file/table.hpp>
#include <uit/team/member.hpp>

using namespace std::chrono_literals;

struct Greeting { std::size_t from = 0; long number = 0; };

int main(int argc, char** argv) {
  return netuit::Main(argc, argv, {.threads = 4}, [&](uit::Team& team) {
    return team.Run([&](uit::Member& me) {
      auto right = me.InletTo<Greeting, uit::latest>(me.Right());
      auto left = me.OutletFrom<Greeting, uit::latest>(me.Left());
      me.Connect();
      const auto end = std::chrono::steady_clock::now() + 100ms;
      for (long n = 0; std::chrono::steady_clock::now() < end; ++n) {
        right.TryPut({me.Rank(), n});
        left.Jump();
        std::this_thread::sleep_for(me.Rank() % 2 == 0 ? 100us : 500us);  // other work of this member
      }
      const auto sent = me.AllGather(right.Tally().attempted), read = me.AllGather(left.Tally().stepped);
      const auto process = me.AllGather(me.Process());
      if (!me.IsRoot()) return;
      netuit::Table table{{"member", "process", "sent", "read"}};
      for (std::size_t member = 0; member < me.Size(); ++member)
        table.Row().Add(member).Add(process[member]).Add(sent[member]).Add(read[member]);
      if (argc > 1) table.Save(std::string(argv[1]) + "/ring.csv");
      const auto sum = [](const auto& counts) { return std::accumulate(counts.begin(), counts.end(), std::size_t{0}); };
      std::printf("%zu members, %zu of %zu greetings read\n", me.Size(), sum(read), sum(sent));
    });
  });
}
