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

/// MPI from beginning to end of a program: initialises it unless that has been done, and then also finalises it. One
/// per process; whatever talks through its world ends before it does.
///
///     int main(int argc, char** argv) {
///       uit::mpi::Session session{argc, argv};
///       uit::World world = session.World();
///
/// The environment variable UIT_SHARED_MEMORY=0 makes a process share no memory with others, as if it were alone on its host.
/// For hooks see ApplicationHooks.
class Session {
 public:
  /// Throws if MPI cannot grant that several threads call it one at a time.
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
    const char* const wish = std::getenv("UIT_SHARED_MEMORY");
    const bool shares_memory = wish == nullptr || std::string_view(wish) != "0";
    world_ = uit::World{std::make_shared<MpiWorld>(
        MPI_COMM_WORLD, MpiWorldOptions{.shares_memory = shares_memory, .hooks = ApplicationHooks()})};
    if (!owns_) return;
    const PeerWatch::Blocking blocking(world_.Process()->Watch(), "MPI_Comm_dup");
    Check(MPI_Comm_dup(MPI_COMM_WORLD, &leaving_), "MPI_Comm_dup");
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Finalises when all processes have come here. If an exception is on its way or MPI has failed this process, waits for
  /// them for two seconds, and if a silent peer has been given up, for ten; then ends them all, with the code of EndWith,
  /// rather than wait for ever. If one has ended before, this process ends at once with that code, and leaves the others
  /// alone: they may have results to write.
  ~Session() {
    if (!owns_) return;
    const auto process = world_.Process();
    const bool has_failed = process->HasFailed() || process->HasThrown();
    const bool is_thrown_out = std::uncaught_exceptions() != 0;
    trouble_[0] = has_failed ? failed : is_thrown_out || process->IsBroken() ? troubled : none;
    // Who has given a silent process up has ended well itself, and so may others that are still about it.
    const std::chrono::seconds patience(has_failed || is_thrown_out ? 2 : 10);
    if (!DoAllLeave(trouble_[0] == none ? never : After(patience))) Abandon();
    if (trouble_[1] != none) process->Break();  // who is in trouble gives no windows back, so nobody does
    world_ = uit::World{std::make_shared<uit::Alone>(process)};  // gives back what it has of MPI's
    if (has_failed || process->HasFailed()) Abandon();  // others wait for what it could not give back with them
    if (trouble_[1] == failed) AwaitEnd();
    Note(MPI_Comm_free(&leaving_), "MPI_Comm_free");
    SayUntold();
    Note(MPI_Finalize(), "MPI_Finalize");
    SayUntold();
  }

  /// What the job ends with should this process have to end the others: not 0.
  void EndWith(int exit_code) { exit_code_ = exit_code != 0 ? exit_code : 1; }

  /// All processes of the job.
  uit::World World() const { return world_; }
  /// This process's number in the job, from 0. Any thread.
  std::size_t Rank() const { return world_.Rank(); }
  /// How many processes the job has. Any thread.
  std::size_t Size() const { return world_.Size(); }

 private:
  void Initialise(int& argc, char**& argv) {
    // MPI's own threads inherit the mask, so that a run can take signals up where it sees fit.
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
  /// MPI cannot be finalised, since that waits for everybody.
  [[noreturn]] void Abandon() {
    const auto gone = world_.Process()->Watch().Gone();
    if (gone && !world_.Process()->IsBroken()) world_.Process()->Note(PeerLost(*gone, "while the job ended").what());
    SayUntold();
    // A launcher that is told to abort a job drops what it has not yet passed on.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (!world_.Process()->Watch().Gone()) Note(MPI_Abort(MPI_COMM_WORLD, exit_code_), "MPI_Abort");
    std::fflush(nullptr);
    _exit(exit_code_);
  }
  /// Another process has failed, and ends the job any moment: this one is not in the midst of MPI_Finalize then.
  [[noreturn]] void AwaitEnd() {
    std::fflush(nullptr);
    std::this_thread::sleep_for(std::chrono::seconds(2));
    Abandon();
  }
  /// Waits here rather than in MPI_Finalize, which spins.
  bool DoAllLeave(Deadline deadline) {
    try {
      MPI_Request request = MPI_REQUEST_NULL;
      Check(MPI_Iallreduce(&trouble_[0], &trouble_[1], 1, MPI_INT, MPI_MAX, leaving_, &request), "MPI_Iallreduce");
      return AwaitAll(request, world_.Process()->Watch(), deadline);
    } catch (const Error& error) {
      if (!IsForTheDead(world_.Process()->Watch())) world_.Process()->Note(error.what());
      return false;
    }
  }
  void Note(int code, const char* call) {
    if (code != MPI_SUCCESS) world_.Process()->Note(Error(code, call).what());
  }
  /// What went wrong in destructors, which have nobody to tell.
  void SayUntold() {
    const std::string words = world_.Process()->TakeUntold();
    if (!words.empty()) PrintLine("error", words);
  }

  bool owns_ = false;
  int exit_code_ = 1;
  enum Trouble : int { none, troubled, failed };
  int trouble_[2] = {none, none};  // this process's, and the worst of any
  MPI_Comm leaving_ = MPI_COMM_NULL;  // its own, since another process may be in the midst of a collective
  uit::World world_;
};

/// For a process whose session could not begin, when it has said why: ends it by a signal, unless MPI has been
/// initialised. Others wait for it in MPI_Init_thread, and MPICH's launcher does not end them for an exit code.
inline void EndUnbegun() {
  int has_begun = 0;
  const char* const launcher = std::getenv("PMI_RANK");
  if (launcher == nullptr || (MPI_Initialized(&has_begun) == MPI_SUCCESS && has_begun != 0)) return;
  std::fflush(stderr);
  ::signal(SIGTERM, SIG_DFL);
  ::raise(SIGTERM);
}

}  // namespace uit::mpi
