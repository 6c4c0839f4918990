// A second producer ends the program with a line that names both threads, whichever verb it calls. No test framework is used,
// because a failed assertion aborts.

#define UIT_ASSERT_LEVEL 2

#include <array>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <thread>

#include <uit/uit.hpp>

int main(int argc, char** argv) {
  const std::string_view verb = argc == 2 ? argv[1] : "TryPut";
  std::signal(SIGABRT, [](int) { std::_Exit(3); });
  auto [inlet, outlet] = uit::Conduit<int>{uit::Thread{}};
  inlet.TryPut(1);
  std::thread{[&in = inlet, verb] {
    if (verb == "TryPut") in.TryPut(2);
    if (verb == "TryStage") in.TryStage(2);
    if (verb == "StageSome") in.StageSome(std::array{2, 3});
    if (verb == "Put") in.Put(2, uit::Now());
    if (verb == "TryFlush") in.TryFlush();
    if (verb == "Poll") in.Poll();
  }}.join();
  return 0;
}
