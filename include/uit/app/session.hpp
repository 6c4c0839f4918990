#pragma once

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <mpi.h>

#include <uit/app/application_hooks.hpp>
#include <uit/mpi/await.hpp>
#include <uit/mpi/error.hpp>
#include <uit/mpi/mpi_world.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/support/peer_watch.hpp>
#include <uit/support/simulation.hpp>
#include <uit/link/world.hpp>

namespace uit::mpi {

/// MPI for the whole program. If MPI is not initialised yet, the session initialises it, and later finalises it. One per
/// process. Everything that communicates through its world must end before it.
///
///     int main(int argc, char** argv) {
///       uit::mpi::Session session{argc, argv};
///       uit::World world = session.World();
///
/// If the environment variable UIT_SHARED_MEMORY is 0, the process shares no memory with others, as if it were alone on
/// its host. For hooks see ApplicationHooks.
class Session {
 public:
  /// Throws if MPI does not allow several threads to call it one at a time.
  Session(int& argc, char**& argv) {
    int is_initialised = 0;
    Check(MPI_Initialized(&is_initialised), "MPI_Initialized");
    if (is_initialised == 0) Initialise(argc, argv);
    int provided = MPI_THREAD_SINGLE;
    Check(MPI_Query_thread(&provided), "MPI_Query_thread");
    if (provided < MPI_THREAD_SERIALIZED && !is_simulated) {  // a simulated process has one thread
      if (owns_) Check(MPI_Finalize(), "MPI_Finalize");
      throw uit::Error("MPI grants thread level " + std::to_string(provided) + ", and MPI_THREAD_SERIALIZED is needed");
    }
    Check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    const char* const setting = std::getenv("UIT_SHARED_MEMORY");
    const bool shares_memory = setting == nullptr || std::string_view(setting) != "0";
    world_ = uit::World{std::make_shared<MpiWorld>(
        MPI_COMM_WORLD, MpiWorldOptions{.shares_memory = shares_memory, .hooks = ApplicationHooks()})};
    if (!owns_) return;
    const PeerWatch::Blocking blocking(world_.Process()->Watch(), "MPI_Comm_dup");
    Check(MPI_Comm_dup(MPI_COMM_WORLD, &leaving_), "MPI_Comm_dup");
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Finalises MPI when all processes have come here. If an exception is in flight, or MPI has failed in this process,
  /// waits for the others for two seconds. If a peer that does not answer was given up, waits for ten seconds. If the
  /// others have not come by then, ends them all with the code of EndWith. If a process has ended before, this process
  /// ends at once with that code, but leaves the others running: they may have results to write. The code is then 0 only if the
  /// remaining processes have gone on in a world of their own; see WorldModel::FindSurvivors.
  ~Session() {
    if (!owns_) return;
    const auto process = world_.Process();
    const bool has_failed = process->HasFailed() || process->HasThrown();
    const bool is_thrown_out = std::uncaught_exceptions() != 0;
    trouble_[0] = has_failed ? failed : is_thrown_out || process->IsBroken() ? troubled : none;
    // A process that gave up a silent peer has ended its own run normally. Others may still be waiting for that peer.
    const std::chrono::seconds patience(has_failed || is_thrown_out ? 2 : 10);
    if (!DoAllLeave(trouble_[0] == none ? never : After(patience))) Abandon();
    if (trouble_[1] != none) process->Break();  // a process in trouble gives no windows back, so no process may
    world_ = uit::World{std::make_shared<uit::Alone>(process)};  // gives back its MPI resources
    if (has_failed || process->HasFailed()) Abandon();  // others wait for it in the calls that give resources back
    if (trouble_[1] == failed) AwaitEnd();
    Note(MPI_Comm_free(&leaving_), "MPI_Comm_free");
    PrintNoted();
    Note(MPI_Finalize(), "MPI_Finalize");
    PrintNoted();
  }

  /// Sets the job's exit code for the case that this process has to end the others, or ends before them. To end
  /// the others, 0 becomes 1.
  void EndWith(int exit_code) { exit_code_ = exit_code; }

  /// All processes of the job.
  uit::World World() const { return world_; }
  /// This process's number in the job, from 0. Any thread.
  std::size_t Rank() const { return world_.Rank(); }
  /// The number of processes in the job. Any thread.
  std::size_t Size() const { return world_.Size(); }

 private:
  void Initialise(int& argc, char**& argv) {
    // MPI's own threads inherit the signal mask, so that only a run decides which thread takes signals.
    sigset_t stops;
    sigset_t previous;
    sigemptyset(&stops);
    for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) sigaddset(&stops, signal);
    pthread_sigmask(SIG_BLOCK, &stops, &previous);
    int provided = 0;
    const int code = MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    pthread_sigmask(SIG_SETMASK, &previous, nullptr);
    Check(code, "MPI_Init_thread");
    owns_ = true;
  }
  /// Ends without MPI_Finalize, which would wait for all processes.
  [[noreturn]] void Abandon() {
    const auto gone = world_.Process()->Watch().Gone();
    if (gone && !world_.Process()->IsBroken()) world_.Process()->Note(PeerLost(*gone, "while the job ended").what());
    PrintNoted();
    // A launcher that is told to abort a job discards output that it has not forwarded yet.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const int failure = exit_code_ != 0 ? exit_code_ : 1;
    if (!world_.Process()->Watch().Gone()) Note(MPI_Abort(MPI_COMM_WORLD, failure), "MPI_Abort");
    std::fflush(nullptr);
    _exit(world_.Process()->HasOutlived() && world_.Process()->Trouble().empty() ? exit_code_ : failure);
  }
  /// Another process has failed and will end the job soon. Waits for that outside MPI_Finalize.
  [[noreturn]] void AwaitEnd() {
    std::fflush(nullptr);
    std::this_thread::sleep_for(std::chrono::seconds(2));
    Abandon();
  }
  /// Waits for all processes, here and not in MPI_Finalize, which spins. False at the deadline, or if a process has ended.
  bool DoAllLeave(Deadline deadline) {
    try {
      MPI_Request request = MPI_REQUEST_NULL;
      Check(MPI_Iallreduce(&trouble_[0], &trouble_[1], 1, MPI_INT, MPI_MAX, leaving_, &request), "MPI_Iallreduce");
      return AwaitAll(request, world_.Process()->Watch(), deadline);
    } catch (const Error& error) {
      if (!HasPeerEnded(world_.Process()->Watch())) world_.Process()->Note(error.what());
      return false;
    }
  }
  void Note(int code, const char* call) {
    if (code != MPI_SUCCESS) world_.Process()->Note(Error(code, call).what());
  }
  /// Prints errors from destructors, which could not throw them.
  void PrintNoted() {
    const std::string words = world_.Process()->TakeUntold();
    if (!words.empty()) PrintLine("error", words);
  }

  bool owns_ = false;
  int exit_code_ = 1;
  enum Trouble : int { none, troubled, failed };
  int trouble_[2] = {none, none};  // this process's, and the worst of all processes
  MPI_Comm leaving_ = MPI_COMM_NULL;  // a separate one, because another process may still be inside a collective
  uit::World world_;
};

/// For a process whose session could not start, after it has reported the reason. Ends the process by a signal, unless MPI
/// is initialised. Reason: others wait for it in MPI_Init_thread, and MPICH's launcher ends them for a signal but not for
/// an exit code.
inline void EndUnbegun() {
  int has_begun = 0;
  const char* const launcher = std::getenv("PMI_RANK");
  if (launcher == nullptr || (MPI_Initialized(&has_begun) == MPI_SUCCESS && has_begun != 0)) return;
  std::fflush(stderr);
  ::signal(SIGTERM, SIG_DFL);
  ::raise(SIGTERM);
}

}  // namespace uit::mpi
