#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <fcntl.h>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <uit/app/application_hooks.hpp>
#include <uit/support/error.hpp>
#include <uit/support/pause.hpp>
#include <uit/support/peer_watch.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/child_process.hpp"

using namespace std::chrono_literals;
using uit::PeerWatch;
using uit::ProcessIdentity;
using uit::testing::ChildProcess;

namespace {

bool IsNoticed(const PeerWatch& watch) {
  return uit::WaitUntil([&] { return watch.Gone().has_value(); }, uit::After(10s));
}

}  // namespace

TEST_CASE("A watch leaves no file open") {
  const auto num_open = [] {
    const std::filesystem::directory_iterator files("/proc/self/fd");
    return std::distance(begin(files), end(files));
  };
  const ChildProcess child;
  const auto before = num_open();
  for (int i = 0; i < 3; ++i) {
    const PeerWatch watch({ProcessIdentity::OfThis(0), child.Identity(1)});
    CHECK(num_open() > before);
  }
  CHECK(num_open() == before);
}

TEST_CASE("The end of a process is noticed however it ends") {
  for (const int signal : {SIGKILL, SIGTERM, SIGABRT}) {
    CAPTURE(signal);
    const ChildProcess first;
    const ChildProcess second;
    const PeerWatch watch({ProcessIdentity::OfThis(0), first.Identity(4), second.Identity(7)});
    std::this_thread::sleep_for(10ms);
    CHECK_FALSE(watch.Gone());
    CHECK_NOTHROW(watch.Check("in a test"));
    kill(second.process, signal);  // its parent does not wait for it
    REQUIRE(IsNoticed(watch));
    CHECK(watch.Gone() == std::size_t{7});
    CHECK(watch.AllGone() == std::vector<std::size_t>{7});
    try {
      watch.Check("in a test");
      FAIL("nothing was thrown");
    } catch (const uit::PeerLost& lost) {
      CHECK(lost.Rank() == 7);
      CHECK(std::string(lost.what()) == "rank 7 has ended (in a test)");
    }
    kill(first.process, signal);
    CHECK(uit::WaitUntil([&] { return watch.AllGone().size() == 2; }, uit::After(10s)));
    CHECK(watch.AllGone() == std::vector<std::size_t>{7, 4});
    CHECK(watch.Gone() == std::size_t{7});
  }
}

TEST_CASE("A process that has ended is distinguished from one that lives") {
  const ChildProcess first, second, third;
  const PeerWatch watch({ProcessIdentity::OfThis(0), first.Identity(1), second.Identity(2), third.Identity(3)});
  const auto who_has_gone = [&watch] {
    std::vector<std::size_t> ranks;
    for (std::size_t rank = 0; rank < 5; ++rank) {
      if (watch.HasGone(rank)) ranks.push_back(rank);
    }
    return ranks;
  };
  using Ranks = std::vector<std::size_t>;
  CHECK(who_has_gone().empty());
  kill(second.process, SIGKILL);
  REQUIRE(IsNoticed(watch));
  CHECK(who_has_gone() == Ranks{2});
  kill(third.process, SIGKILL);
  REQUIRE(uit::WaitUntil([&] { return watch.HasGone(3); }, uit::After(10s)));
  CHECK(who_has_gone() == Ranks{2, 3});
}

TEST_CASE("A process that has ended before the watch begins is noticed") {
  ProcessIdentity identity;
  {
    const ChildProcess child;
    identity = child.Identity(3);
  }
  const PeerWatch watch({identity});
  CHECK(watch.Gone() == std::size_t{3});
}

TEST_CASE("Processes of other containers are not watched, nor is this one") {
  const ChildProcess child;
  ProcessIdentity elsewhere = child.Identity(1);
  elsewhere.numbers += 1;
  const PeerWatch watch({ProcessIdentity::OfThis(0), elsewhere});
  kill(child.process, SIGKILL);
  std::this_thread::sleep_for(20ms);
  CHECK_FALSE(watch.Gone());
}

TEST_CASE("A process in a call that waits for a process that has ended is ended with code 3") {
  const pid_t waiting = fork();
  if (waiting == 0) {
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDERR_FILENO);
    const ChildProcess child;
    PeerWatch watch({child.Identity(1)}, uit::ApplicationHooks().give_up);
    const PeerWatch::Blocking blocking(watch, "a call that waits");
    kill(child.process, SIGKILL);
    for (;;) pause();
  }
  int status = 0;
  REQUIRE(waitpid(waiting, &status, 0) == waiting);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 3);
}

TEST_CASE("A program's hook is told of a call that waits for a process that has ended, and the program continues") {
  const ChildProcess child;
  std::atomic<std::size_t> told_of{0};
  PeerWatch watch({child.Identity(3)}, [&](const uit::PeerLost& lost) { told_of = lost.Rank().value_or(0); });
  const PeerWatch::Blocking blocking(watch, "a call that waits");
  kill(child.process, SIGKILL);
  CHECK(uit::WaitUntil([&] { return told_of.load() == 3; }, uit::After(10s)));
}
