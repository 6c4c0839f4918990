#pragma once

#include <memory>
#include <vector>

#include <uit/link/world.hpp>

namespace netuit::python {

/// Something that communicates with the other processes of the job, and must end before it.
class JobObject {
 public:
  virtual ~JobObject() = default;
  /// Ends it; later calls throw. Collective.
  virtual void Drop() = 0;
};

/// The processes that run the same Python program: those that a launcher has started, or this one alone. One per process.
class Job {
 public:
  /// Starts MPI, if a launcher has started several processes or MPI runs already. Throws uit::InputError if the module is built
  /// without MPI and a launcher has started several.
  Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  ~Job();

  /// Returns the job, which the first call starts.
  static Job& Get();
  /// Ends the job with this exit code: drops all objects, and ends MPI if the job has started it. Collective. If the code is not 0,
  /// others that wait for this process in vain are ended after some seconds.
  static void End(int exit_code);
  /// Whether the job has ended, or belongs to the process that has made this one by fork.
  static bool IsOver();

  /// Returns all processes.
  const uit::World& World() const { return world_; }
  /// Whether a launcher has started several processes.
  bool IsLaunched() const { return world_.Size() > 1; }

  /// Notes an object, which is dropped before the job ends; the earliest is dropped first, on every process.
  void Add(JobObject& object) { objects_.push_back(&object); }
  /// Forgets an object, if the job has not ended.
  static void Forget(JobObject& object);

 private:
  static std::unique_ptr<Job>& Instance();  // never destroyed by itself

  struct Session;
  std::unique_ptr<Session> session_;
  uit::World world_;
  std::vector<JobObject*> objects_;
  int exit_code_ = 0;
};

}  // namespace netuit::python
