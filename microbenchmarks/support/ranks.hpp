#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "team.hpp"

namespace bench {

/// The MPI's name and version, in one line.
[[nodiscard]] inline std::string MpiName() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string name{text, static_cast<std::size_t>(length)};
  if (name.starts_with("MPICH")) return "MPICH " + name.substr(name.find_first_of("0123456789"), 5);
  return name.substr(0, name.find_first_of(",\n"));
}

/// Memory that all ranks of a host share: one zeroed `T`.
template <typename T>
class SharedMemory {
 public:
  explicit SharedMemory(MPI_Comm communicator) {
    int rank = 0;
    MPI_Comm_rank(communicator, &rank);
    const std::size_t bytes = rank == 0 ? sizeof(T) + alignof(T) : 0;
    void* base = nullptr;
    MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, communicator, &base, &window_);
    MPI_Aint size = 0;
    int unit = 0;
    MPI_Win_shared_query(window_, 0, &size, &unit, &base);
    std::size_t room = sizeof(T) + alignof(T);
    std::align(alignof(T), sizeof(T), base, room);
    if (rank == 0) new (base) T{};
    MPI_Barrier(communicator);
    object_ = std::launder(static_cast<T*>(base));
  }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory() { MPI_Win_free(&window_); }

  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }

 private:
  MPI_Win window_ = MPI_WIN_NULL;
  T* object_ = nullptr;
};

/// The ranks of a job on one host, each pinned to its own CPU if there are enough.
class Ranks final : public Team {
 public:
  Ranks() : cpus_{AllowedCpus()}, ping_pong_{MPI_COMM_WORLD} {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    PinTo(cpus_[static_cast<std::size_t>(rank_) % cpus_.size()]);
    delay_ = RunQueueDelay();
  }

  [[nodiscard]] int Rank() const { return rank_; }
  [[nodiscard]] int Size() const { return size_; }

  double Probe() override {
    double round_trip = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_ == 0) round_trip = ping_pong_->Serve();
    if (rank_ == 1) ping_pong_->Return();
    round_trip = Agree(round_trip);
    delay_ = RunQueueDelay();
    return round_trip;
  }

  /// The waiting times of the ranks' threads.
  void AddRunQueueDelay(double delay) { delay_ -= delay; }

  double TakeRunQueueDelay() override {
    const double now = RunQueueDelay();
    double worst = now - delay_;
    delay_ = now;
    MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return worst;
  }

  bool Agree(bool answer) override { return Agree(answer ? 1.0 : 0.0) != 0; }
  double Agree(double answer) override {
    MPI_Bcast(&answer, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return answer;
  }
  [[nodiscard]] bool IsLead() const override { return rank_ == 0; }

  /// Mean over all ranks.
  [[nodiscard]] double Mean(double value) const {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return value / size_;
  }

 private:
  std::vector<int> cpus_;
  SharedMemory<PingPong> ping_pong_;
  int rank_ = 0;
  int size_ = 1;
  double delay_ = 0;
};

}  // namespace bench
