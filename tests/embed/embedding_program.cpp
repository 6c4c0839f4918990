// Runs meshes inside a program that has its own MPI, signal handlers and threads. Prints "the program is as it was" if the
// library has neither changed those nor printed anything.
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>

#include <mpi.h>

#include <netuit/file/load_graph.hpp>
#include <netuit/graph/graphs.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/run/run.hpp>
#include <uit/mpi/mpi_world.hpp>
#include <uit/support/error.hpp>
#include <uit/support/process_hooks.hpp>
#include <uit/team/team.hpp>
#include <uit/link/world.hpp>

namespace {

volatile std::sig_atomic_t num_signals = 0;
void CountSignal(int) { num_signals = num_signals + 1; }

bool has_failed = false;
void Expect(bool holds, const char* what) {
  if (!holds) has_failed = true, std::printf("FAILED: %s\n", what);
}

/// The program's signal mask and handlers.
struct SignalChoices {
  static constexpr std::array signals{SIGINT, SIGTERM, SIGUSR1, SIGSEGV, SIGABRT, SIGPIPE};

  SignalChoices() {
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], nullptr, &actions[i]);
  }
  bool Equal(const SignalChoices& other) const {
    for (std::size_t i = 0; i < signals.size(); ++i) {
      if (sigismember(&blocked, signals[i]) != sigismember(&other.blocked, signals[i])) return false;
      if (actions[i].sa_handler != other.actions[i].sa_handler) return false;
    }
    return true;
  }

  sigset_t blocked{};
  std::array<struct sigaction, signals.size()> actions{};
};

/// Makes every run end at once.
class Impatient final : public uit::StopSource {
 public:
  int Take() override { return SIGUSR1; }
  void Keep() override {}
};

std::uint64_t SumUpdates(const netuit::RunReport& report) {
  std::uint64_t sum = 0;
  for (const netuit::WorkerReport& worker : report.workers) sum += worker.num_updates;
  return sum;
}

void RunMeshes(MPI_Comm communicator) {
  const uit::World world(std::make_shared<uit::mpi::MpiWorld>(communicator));
  Expect(world.Size() == 1 || world.HostRanks().size() == world.Size(), "the environment makes no difference");
  const uit::Team team{world, {.threads = 2}};
  {
    netuit::Mesh mesh{team, netuit::Torus(8, 8)};
    const auto count = mesh.AddPublishedField<int>();
    const auto report = mesh.Run(netuit::Free{.updates = 50}, [&](netuit::Node& node) {
      ++count[node];
      if (node.Index() == 5) raise(SIGTERM);
    });
    Expect(report.stopped_by == netuit::StopReason::count && report.Balanced(), "a signal of the program's ends no run");
    Expect(num_signals > 0, "the program's handler was called");
    Expect(!world.IsRoot() || SumUpdates(report) == 100 * world.Size(), "all updates were made");
    const auto thrown = mesh.Run(netuit::Free{.updates = 50}, [&](netuit::Node& node) {
      if (node.Id() == 5) throw uit::InputError("no such thing");
    });
    Expect(thrown.stopped_by == netuit::StopReason::thrown, "an update that throws ends its run alone");
  }
  try {
    netuit::Mesh mesh{team, netuit::LoadGraph("no/such/file.edgelist")};
    Expect(false, "a graph that is not there throws");
  } catch (const uit::Error&) {
  }
  const uit::World impatient(std::make_shared<uit::mpi::MpiWorld>(
      communicator, uit::mpi::MpiWorldOptions{.hooks = {.heed_stops = [] { return std::make_unique<Impatient>(); }}}));
  netuit::Mesh mesh{uit::Team{impatient}, netuit::Torus(4, 4)};
  const auto report = mesh.Run(netuit::Free{.duration = std::chrono::hours(1)}, [](netuit::Node&) {});
  Expect(report.stopped_by == netuit::StopReason::signal && report.signal == SIGUSR1, "the program's own hook ends a run");
}

/// Returns what `run` prints to stderr.
template <typename F>
std::string Overhear(F&& run) {
  std::FILE* const file = std::tmpfile();
  std::fflush(stderr);
  const int before = dup(STDERR_FILENO);
  dup2(fileno(file), STDERR_FILENO);
  run();
  std::fflush(stderr);
  dup2(before, STDERR_FILENO);
  close(before);
  std::fseek(file, 0, SEEK_END);
  std::string words(static_cast<std::size_t>(std::ftell(file)), ' ');
  std::rewind(file);
  if (std::fread(words.data(), 1, words.size(), file) != words.size()) words = "unreadable";
  std::fclose(file);
  return words;
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  struct sigaction action {};
  action.sa_handler = CountSignal;
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) sigaction(signal, &action, nullptr);
  std::atomic<bool> is_over{false};
  std::atomic<std::uint64_t> num_turns{0};
  std::thread own([&] {
    for (; !is_over; std::this_thread::sleep_for(std::chrono::milliseconds(1))) ++num_turns;
  });
  MPI_Comm communicator = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
  MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);

  std::uint64_t received = 0;
  MPI_Request receive = MPI_REQUEST_NULL;  // of any message on this communicator
  MPI_Irecv(&received, sizeof received, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, communicator, &receive);

  const SignalChoices before;
  const std::string words = Overhear([&] { RunMeshes(communicator); });
  const SignalChoices after;

  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  const std::uint64_t sent = 0xC0FFEE;
  MPI_Status status;
  if (received == 0) MPI_Send(&sent, sizeof sent, MPI_BYTE, rank, 7, communicator);
  MPI_Wait(&receive, &status);
  Expect(received == sent && status.MPI_SOURCE == rank && status.MPI_TAG == 7, "a receive of the program gets no message of the library");
  Expect(words.empty(), "nothing was printed");
  if (!words.empty()) std::printf("%s\n", words.c_str());
  Expect(before.Equal(after), "handlers and blocked signals are as they were");
  is_over = true;
  own.join();
  Expect(num_turns > 0, "the program's own thread has run");
  int has_failed_here = has_failed ? 1 : 0;
  int has_failed_anywhere = 0;
  MPI_Comm_free(&communicator);
  const int code = MPI_Allreduce(&has_failed_here, &has_failed_anywhere, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  Expect(code == MPI_SUCCESS, "MPI works as before");
  if (has_failed_anywhere == 0 && !has_failed) std::puts("the program is as it was");
  MPI_Finalize();
  return has_failed_anywhere;
}
