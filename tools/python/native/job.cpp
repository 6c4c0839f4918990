#include "job.hpp"

#include <unistd.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <uit/app/application_hooks.hpp>
#include <uit/app/environment.hpp>
#include <uit/link/process_state.hpp>
#include <uit/link/world.hpp>
#include <uit/support/error.hpp>
#if UIT_WITH_MPI
#include <uit/app/session.hpp>
#endif

namespace netuit::python {

namespace {

bool has_ended = false;  // whether the job of this process has
const pid_t process = getpid();  // that has loaded the module

std::size_t NumStarted() { return uit::LaunchFromEnvironment().num_processes; }

uit::World Alone() { return uit::World{std::make_shared<uit::Alone>(std::make_shared<uit::ProcessState>(uit::ApplicationHooks()))}; }

}  // namespace

#if UIT_WITH_MPI

struct Job::Session {
  int argc = 0;
  char** argv = nullptr;
  uit::mpi::Session mpi{argc, argv};
};

Job::Job() {
  int is_initialised = 0;
  MPI_Initialized(&is_initialised);
  if (NumStarted() == 1 && is_initialised == 0) {
    world_ = Alone();
  } else {
    session_ = std::make_unique<Session>();
    world_ = session_->mpi.World();
  }
}

#else

struct Job::Session {};

Job::Job() : world_(Alone()) {
  if (NumStarted() > 1)
    throw uit::InputError("this build of the Python package is without MPI, but a launcher has started " + std::to_string(NumStarted()) +
                          " processes");
}

#endif

Job::~Job() {
  for (JobObject* const object : objects_) {
    try {
      object->Drop();
    } catch (const uit::Error&) {  // another thread uses it still
    }
  }
  has_ended = true;
  world_ = {};
#if UIT_WITH_MPI
  if (session_) session_->mpi.EndWith(exit_code_);
#endif
  if (exit_code_ == 0) return;
  try {  // the session then waits two seconds only for others, which may be in a collective call, and ends them
    const std::unique_ptr<Session> ended = std::move(session_);
    throw uit::Error("the program has failed");
  } catch (const uit::Error&) {
  }
}

bool Job::IsOver() { return has_ended || getpid() != process; }

std::unique_ptr<Job>& Job::Instance() {
  static std::unique_ptr<Job>* const job = new std::unique_ptr<Job>;
  return *job;
}

Job& Job::Get() {
  std::unique_ptr<Job>& job = Instance();
  if (IsOver()) throw uit::Error("the job has ended, or this process is a child that fork has created");
  if (job == nullptr) job = std::make_unique<Job>();
  return *job;
}

void Job::Forget(JobObject& object) {
  if (Instance() != nullptr) std::erase(Instance()->objects_, &object);
}

void Job::End(int exit_code) {
  std::unique_ptr<Job> job = std::exchange(Instance(), nullptr);
  if (job == nullptr) return;
  job->exit_code_ = exit_code;
  job.reset();
}

}  // namespace netuit::python
