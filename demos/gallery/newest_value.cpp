// Two threads: one simulates, the other draws the newest state whenever it is ready to. Neither waits for the other.
//
//     newest_value [FOLDER]
//
// Writes drawn.csv to FOLDER: the steps whose states were drawn.
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>

#include <netuit/app/guarded_main.hpp>
#include <netuit/file/table.hpp>
#include <uit/uit.hpp>

struct State {
  int step = 0;
  bool Step() { return ++step < 1'000'000; }
};

int main(int argc, char** argv) {
  return netuit::GuardedMain(argc, argv, [&](const uit::World&) {
    auto [inlet, outlet] = uit::Conduit<State, uit::latest>{uit::Thread{}};
    std::jthread simulation{[sender = std::move(inlet)]() mutable { for (State s; s.Step();) sender.TryPut(s); }};
    int num_drawn = 0;
    netuit::Table drawn{{"step"}};
    while (outlet.Get().step < 999'999) {
      if (!outlet.Jump()) continue;
      drawn.Row().Add(outlet.Get().step);
      std::this_thread::sleep_for(std::chrono::microseconds{10});  // it takes time to draw a state
      ++num_drawn;
    }
    if (argc > 1) drawn.Save(std::string(argv[1]) + "/drawn.csv");
    std::printf("drew %s states, the last at step %d\n", num_drawn > 0 ? "some" : "no", outlet.Get().step);
    return 0;
  });
}
