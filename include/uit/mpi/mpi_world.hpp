#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <mpi.h>

#include <uit/mpi/collective.hpp>
#include <uit/mpi/error.hpp>
#include <uit/mpi/exchange_sparsely.hpp>
#include <uit/mpi/mpi_link.hpp>
#include <uit/mpi/neighbors.hpp>
#include <uit/mpi/host_group.hpp>
#include <uit/mpi/library.hpp>
#include <uit/mpi/survivor_votes.hpp>
#include <uit/mpi/survivor_world.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/support/peer_watch.hpp>
#include <uit/support/process_hooks.hpp>
#include <uit/support/simulation.hpp>
#include <uit/link/link.hpp>
#include <uit/link/process_state.hpp>
#include <uit/link/world.hpp>

namespace uit::mpi {

/// Options of an MpiWorld.
struct MpiWorldOptions {
  bool shares_memory = true;  ///< with other processes of its host that also share; each process may choose
  ProcessHooks hooks{};       ///< the program's callbacks
};

/// The processes of a communicator.
///
///     uit::World world{std::make_shared<uit::mpi::MpiWorld>(communicator)};   // in a program that uses MPI itself
class MpiWorld final : public WorldModel {
 public:
  /// Uses the communicator, which must return errors and outlive the world. MPI must grant MPI_THREAD_SERIALIZED. While
  /// several threads use the world, no other code may call MPI. Collective.
  explicit MpiWorld(MPI_Comm communicator, MpiWorldOptions options = {})
      : WorldModel(std::make_shared<ProcessState>(std::move(options.hooks))), communicator_(communicator) {
    LookUp();
    neighbors_ = FindNeighbors(communicator);
    Process()->WatchOver(neighbors_);
    shares_memory_ = options.shares_memory;
    host_group_ = std::make_shared<HostGroup>(communicator, Process(), options.shares_memory);
  }

  std::size_t Rank() const override { return rank_; }
  std::size_t Size() const override { return size_; }
  std::string Library() const override { return DescribeLibrary(); }

  std::vector<Bytes> AllToAll(std::vector<Bytes> outgoing) override {
    outgoing.resize(size_);
    const auto parts = std::make_shared<Exchange>();
    Flatten(outgoing, parts->sent);
    parts->received.counts.resize(size_);
    Flat& sent = parts->sent;
    Flat& received = parts->received;
    // In a simulation, collectives run as blocking calls: they do not spin there, and many requests are slow.
    Collective(*Process(), "MPI_Ialltoall", parts, [&](MPI_Request* request) {
      if constexpr (is_simulated)
        return MPI_Alltoall(sent.counts.data(), 1, MPI_INT, received.counts.data(), 1, MPI_INT, communicator_);
      return MPI_Ialltoall(sent.counts.data(), 1, MPI_INT, received.counts.data(), 1, MPI_INT, communicator_, request);
    });
    std::size_t total = 0;
    for (const int count : received.counts) {
      received.offsets.push_back(CheckedCount(total));
      total += static_cast<std::size_t>(count);
    }
    received.bytes.resize(static_cast<std::size_t>(CheckedCount(total)));
    Collective(*Process(), "MPI_Ialltoallv", parts, [&](MPI_Request* request) {
      if constexpr (is_simulated) {
        ExchangeSparsely(sent.bytes.data(), sent.counts, sent.offsets, received.bytes.data(), received.counts,
                         received.offsets, communicator_);
        return MPI_SUCCESS;
      }
      return MPI_Ialltoallv(sent.bytes.data(), sent.counts.data(), sent.offsets.data(), MPI_BYTE, received.bytes.data(),
                            received.counts.data(), received.offsets.data(), MPI_BYTE, communicator_, request);
    });
    std::vector<Bytes> incoming(size_);
    for (std::size_t rank = 0; rank < size_; ++rank) {
      const auto first = received.bytes.begin() + received.offsets[rank];
      incoming[rank].assign(first, first + received.counts[rank]);
    }
    return incoming;
  }

  /// Throws if this MPI has no tag for the stream.
  AnyLink OpenLink(std::size_t peer, int stream, const LinkOptions& options) override {
    CheckTag(communicator_, stream);
    return AnyLink(std::make_unique<MpiLink>(communicator_, static_cast<int>(peer), stream, options));
  }

  std::shared_ptr<WorldModel> Duplicate() override {
    const auto duplicate = std::make_shared<MPI_Comm>(MPI_COMM_NULL);
    Collective(*Process(), "MPI_Comm_idup", duplicate, [&](MPI_Request* request) {
      if constexpr (is_simulated) return MPI_Comm_dup(communicator_, duplicate.get());
      return MPI_Comm_idup(communicator_, duplicate.get(), request);
    });
    Check(MPI_Comm_set_errhandler(*duplicate, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    return std::shared_ptr<WorldModel>(new MpiWorld(*duplicate, *this));
  }

  std::vector<std::size_t> HostRanks() const override { return host_group_->Ranks(); }

  HostMemory ShareMemory(std::size_t num_bytes) override {
    std::size_t window = 0;
    HostMemory memory = host_group_->Lend(num_bytes, window);
    if (!memory.empty()) windows_.push_back(window);
    return memory;
  }

  /// Works if all processes are on one host, whose system tells which have ended. Uses the communicator for messages from one
  /// process to another. So call it on a duplicate, which has no other such messages.
  std::optional<Survivors> FindSurvivors(Deadline deadline) override {
    if (is_simulated || Process()->Watch().NumWatched() + 1 != size_) return std::nullopt;
    const auto site = std::make_shared<SurvivorSite>(SurvivorSite{communicator_, neighbors_, rank_, shares_memory_});
    const auto find_gone = [this] {
      Roll roll(size_);
      for (const std::size_t rank : Process()->Watch().AllGone()) roll[rank] = 1;
      return roll;
    };
    const auto next = SurvivorWorld::TryMake(site, Process()->Hooks(), deadline, find_gone);
    if (!next) return std::nullopt;
    Process()->Outlive();
    return Survivors{World{next}, next->Ranks()};
  }

  bool Release(Deadline deadline) override {
    if (!std::exchange(owns_, false)) return true;
    const auto start = [&](MPI_Request* request) { return MPI_Ibarrier(communicator_, request); };
    if (!Collective(*Process(), "MPI_Ibarrier", nullptr, start, deadline)) {
      Process()->Break();
      return false;
    }
    for (const std::size_t window : windows_) host_group_->TakeBack(window);
    windows_.clear();
    if (const int code = MPI_Comm_free(&communicator_); code != MPI_SUCCESS) Process()->Note(Error(code, "MPI_Comm_free").what());
    return true;
  }

 private:
  MpiWorld(MPI_Comm duplicate, const MpiWorld& original)
      : WorldModel(original.Process()),
        communicator_(duplicate),
        owns_(true),
        host_group_(original.host_group_),
        neighbors_(original.neighbors_),
        shares_memory_(original.shares_memory_) {
    LookUp();
  }
  void LookUp() {
    int rank = 0;
    int size = 0;
    Check(MPI_Comm_rank(communicator_, &rank), "MPI_Comm_rank");
    Check(MPI_Comm_size(communicator_, &size), "MPI_Comm_size");
    rank_ = static_cast<std::size_t>(rank);
    size_ = static_cast<std::size_t>(size);
  }
  struct Flat {
    std::vector<int> counts, offsets;
    Bytes bytes;
  };
  struct Exchange {
    Flat sent, received;
  };
  static void Flatten(const std::vector<Bytes>& parts, Flat& flat) {
    std::size_t total = 0;
    for (const Bytes& part : parts) {
      flat.counts.push_back(CheckedCount(part.size()));
      flat.offsets.push_back(CheckedCount(total));
      total += part.size();
    }
    flat.bytes.reserve(static_cast<std::size_t>(CheckedCount(total)));
    for (const Bytes& part : parts) flat.bytes.insert(flat.bytes.end(), part.begin(), part.end());
  }

  MPI_Comm communicator_;
  bool owns_ = false;
  std::shared_ptr<HostGroup> host_group_;
  std::vector<ProcessIdentity> neighbors_;
  bool shares_memory_ = true;
  std::vector<std::size_t> windows_;  // lent to this world
  std::size_t rank_ = 0;
  std::size_t size_ = 0;
};

}  // namespace uit::mpi
