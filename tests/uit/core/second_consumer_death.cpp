// A second consumer ends the program with a line that names both threads, whichever verb it calls. No test framework is used,
// because a failed assertion aborts.

#define UIT_ASSERT_LEVEL 2

#include <csignal>
#include <cstdlib>
#include <string_view>
#include <thread>

#include <uit/uit.hpp>

int main(int argc, char** argv) {
  const std::string_view verb = argc == 2 ? argv[1] : "";
  std::signal(SIGABRT, [](int) { std::_Exit(3); });
  auto [inlet, outlet] = uit::Conduit<int>{uit::Thread{}};
  inlet.TryPut(1);
  outlet.TryStep();
  std::thread{[&out = outlet, verb] {
    if (verb == "TryStep") out.TryStep();
    if (verb == "Step") out.Step(uit::Now());
    if (verb == "Jump") out.Jump();
    if (verb == "JumpGet") out.JumpGet();
    if (verb == "Get") out.Get();
    if (verb == "GetNext") out.GetNext(uit::Now());
    if (verb == "GetNextOrNullopt") out.GetNextOrNullopt();
    if (verb == "DiscardUnread") out.DiscardUnread();
    if (verb == "TakeSome") {
      int taken[2];
      out.TakeSome(taken);
    }
    if (verb == "HandOver") {
      out.HandOver();  // now the second thread owns it
      out.TryStep();
      out.Get();
    }
  }}.join();
  return 0;
}
