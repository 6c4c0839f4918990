// Two threads: one simulates, the other reads the newest state.
#include <cstdio>
#include <thread>
#include <utility>

#include <uit/uit.hpp>

struct State {
  int step = 0;
  bool Step() { return ++step < 100'000; }
};

int main() {
  auto [inlet, outlet] = uit::Conduit<State, uit::latest>{uit::Thread{}};
  std::jthread simulation{[sender = std::move(inlet)]() mutable { for (State s; s.Step();) sender.TryPut(s); }};
  int num_drawn = 0;
  while (outlet.Get().step < 99'999) if (outlet.Jump()) ++num_drawn;
  std::printf("drew %s states, the last at step %d\n", num_drawn > 0 ? "some" : "no", outlet.Get().step);
}
