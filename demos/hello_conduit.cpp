// A sender and a receiver in two threads; neither waits for the other.
//
// Build and run:  g++ -std=c++20 -O2 -pthread -I include demos/hello_conduit.cpp && ./a.out

#include <chrono>
#include <iostream>
#include <thread>

#include <uit/uit.hpp>

int main() {
  using namespace std::chrono_literals;

  // 1. Every message, in order. The buffer holds four messages. If it is full, a put is refused.
  auto [inlet, outlet] = uit::Conduit<int>{uit::Intra{.depth = 4}};
  for (int i = 1; i <= 6; ++i)
    if (!inlet.TryPut(i)) std::cout << "no room for " << i << '\n';
  while (outlet.TryStep()) std::cout << "received " << outlet.Get() << '\n';

  // 2. Only the newest message, between two threads: a thermometer, and a display that looks now and then.
  auto [thermometer, display] = uit::Conduit<double, uit::latest>{uit::Thread{}, 20.0};
  std::jthread sender{[&output = thermometer] {
    for (int i = 1; i <= 1000; ++i) {
      output.TryPut(20.0 + 0.001 * i);  // never fails: a newer value replaces an unread one
      uit::Compute(20us);
    }
  }};
  for (int look = 0; look < 5; ++look) {
    std::this_thread::sleep_for(4ms);
    std::cout << display.JumpGet() << " degrees\n";  // never waits; shows the newest
  }
  sender.join();
  display.Jump();

  // 3. Every message is counted.
  uit::Tally tally;
  tally += thermometer.Tally();
  tally += display.Tally();
  std::cout << tally.put.attempted << " put, " << tally.get.stepped << " seen, "
            << tally.put.preempted << " replaced by newer ones, " << tally.InFlight()
            << " under way\n";
  return tally.Balanced() ? 0 : 1;
}
