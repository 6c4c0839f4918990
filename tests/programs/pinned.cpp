// Pinned threads: each process prints which CPU each of its threads stays on, before it starts.
#include <cstdio>
#include <functional>

#include <sched.h>

#include <netuit/app/main.hpp>
#include <uit/team/member.hpp>

int main(int argc, char** argv) {
  return netuit::Main(argc, argv, {.threads = 2, .pins_threads = true}, [](uit::Team& team) {
    team.Run([&](uit::Member& me) {
      bool has_left = false;
      for (int i = 0; i < 1000; ++i) has_left |= sched_getcpu() != static_cast<int>(team.Cpus()[me.Thread()]);
      const int num_gone = me.AllReduce(has_left ? 1 : 0, std::plus<>{});
      if (me.IsRoot()) std::fputs(num_gone == 0 ? "no thread has left its CPU\n" : "threads have left their CPUs\n", stderr);
    });
    return 0;
  });
}
