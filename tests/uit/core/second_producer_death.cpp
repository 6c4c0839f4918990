// A second producer ends the program with a line that names both threads. No test framework is used, because a failed
// assertion aborts.

#define UIT_ASSERT_LEVEL 2

#include <csignal>
#include <cstdlib>
#include <thread>

#include <uit/uit.hpp>

int main() {
  std::signal(SIGABRT, [](int) { std::_Exit(3); });
  auto [inlet, outlet] = uit::Conduit<int>{uit::Thread{}};
  inlet.TryPut(1);
  std::thread{[&in = inlet] { in.TryPut(2); }}.join();
  return 0;
}
