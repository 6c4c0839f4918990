#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <string>

#include <uit/link/world.hpp>

namespace netuit::python {

class MeshObject;

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
  /// Ends the job with this exit code: closes all meshes, and MPI if the job has started it. Collective. If the code is not 0, the
  /// others are ended after two seconds, unless they come here, too.
  static void End(int exit_code);

  /// Returns all processes.
  const uit::World& World() const { return world_; }
  /// Whether a launcher has started several processes.
  bool IsLaunched() const { return world_.Size() > 1; }

  /// Notes a mesh, which is dropped before the job ends.
  void Add(MeshObject& mesh) { meshes_.insert(&mesh); }
  /// Forgets a mesh, if the job has not ended.
  static void Forget(MeshObject& mesh);

 private:
  static std::unique_ptr<Job>& Instance();

  struct Session;
  std::unique_ptr<Session> session_;
  uit::World world_;
  std::set<MeshObject*> meshes_;
  int exit_code_ = 0;
};

}  // namespace netuit::python
