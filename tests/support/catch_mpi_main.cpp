// The main of every MPI test: one Catch2 session per rank, the same tests in the same order on all.
//
// Ranks above 0 write to a file, shown only if that rank failed. The exit status is agreed over all
// ranks. UIT_TEST_RANKS is compared with the world's size, because a launcher of another vendor
// starts worlds of one in which most tests pass. After UIT_TEST_TIMEOUT seconds a rank names the test
// it is in and ends itself: killing the launcher would leave it behind.
#if UIT_CATCH_MAJOR < 3
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#endif
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/before_finalize.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/catch_runner.hpp"
#include "tests/support/skip.hpp"

namespace {

int rank = 0;
std::array<char, 256> current_test{"before the first test"};

// MPI_Finalize of MPICH over UCX's TCP sometimes never returns, whatever the program did before. By now all tests have passed
// on all ranks, and only this call is missing.
volatile std::sig_atomic_t is_in_finalize = 0;
[[maybe_unused]] constexpr unsigned finalize_seconds = 20;

extern "C" void OnAlarm(int) {
  if (is_in_finalize != 0 && uit::testing::has_watch_reported == 0) {
    constexpr std::string_view words =
        "EXCUSED: all tests have passed, nothing of MPI's is left, and MPI_Finalize of MPICH over UCX's TCP has not ended in 20 s\n";
    [[maybe_unused]] const auto written = write(STDOUT_FILENO, words.data(), words.size());
    _exit(EXIT_SUCCESS);
  }
  std::array<char, 400> line{};
  const int size = std::snprintf(line.data(), line.size(), "[rank %d] timed out in: %s\n", rank, current_test.data());
  [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), static_cast<std::size_t>(size));
  _exit(124);
}

#if UIT_CATCH_MAJOR < 3
using Listener = Catch::TestEventListenerBase;
using AssertionEnded = bool;
#else
using Listener = Catch::EventListenerBase;
using AssertionEnded = void;
#endif

// OnAlarm needs the name of the running test. Failures on ranks above 0 are shown at once: if the others then wait for this
// rank, its log is never reached.
struct Reporter : Listener {
  using Listener::Listener;
  void testCaseStarting(const Catch::TestCaseInfo& info) override {
    const auto size = std::min(info.name.size(), current_test.size() - 1);
    std::memcpy(current_test.data(), info.name.data(), size);
    current_test[size] = '\0';
  }
  AssertionEnded assertionEnded(const Catch::AssertionStats& stats) override {
    const auto& result = stats.assertionResult;
    if (rank > 0 && !result.isOk()) {
      std::ostringstream line;
      line << "[rank " << rank << "] " << result.getSourceInfo() << ": failed: " << result.getExpression() << '\n';
      std::cerr << line.str() << std::flush;
    }
    return AssertionEnded(true);
  }
};

int FromEnvironment(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : std::atoi(text);
}

}  // namespace

CATCH_REGISTER_LISTENER(Reporter)

int main(int argc, char** argv) {
  std::signal(SIGALRM, OnAlarm);
  alarm(static_cast<unsigned>(FromEnvironment("UIT_TEST_TIMEOUT")));
  // As a session does: the threads of MPI block the signals that runs handle.
  sigset_t stops;
  sigset_t previous;
  sigemptyset(&stops);
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) sigaddset(&stops, signal);
  pthread_sigmask(SIG_BLOCK, &stops, &previous);
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  pthread_sigmask(SIG_SETMASK, &previous, nullptr);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (const int wanted = FromEnvironment("UIT_TEST_RANKS"); wanted != 0 && wanted != size) {
    std::cerr << "asked for " << wanted << " ranks, the world has " << size
              << ": launcher and MPI library do not belong together\n";
    MPI_Finalize();
    return EXIT_FAILURE;
  }
  if (provided < MPI_THREAD_SERIALIZED) {
    std::cerr << "this MPI does not grant MPI_THREAD_SERIALIZED\n";
    MPI_Finalize();
    return EXIT_FAILURE;
  }

  std::vector<const char*> arguments(argv, argv + argc);
  std::string log;
  if (rank > 0) {
    log = (std::filesystem::temp_directory_path() / ("uit_test." + std::to_string(getpid()))).string();
    arguments.insert(arguments.end(), {"--out", log.c_str()});
  }
  const int failed = RunTests(static_cast<int>(arguments.size()), arguments.data());
  if (rank > 0) {
    if (failed != 0) std::cerr << "[rank " << rank << "]\n" << std::ifstream(log).rdbuf() << std::flush;
    std::filesystem::remove(log);
  }
  const std::array<int, 2> mine{failed != 0, uit::testing::IsAnythingSkipped()};
  std::array<int, 2> of_any{};
  MPI_Allreduce(mine.data(), of_any.data(), 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  uit::testing::before_finalize();
#ifdef MPICH_VERSION
  const char* transports = std::getenv("UCX_TLS");
  if (of_any[0] == 0 && transports != nullptr && std::string_view(transports).find("tcp") != std::string_view::npos) {
    is_in_finalize = 1;
    alarm(finalize_seconds);
  }
#endif
  MPI_Finalize();
  if (of_any[0] != 0) return EXIT_FAILURE;
  return of_any[1] != 0 ? uit::testing::skipped_code : EXIT_SUCCESS;
}
