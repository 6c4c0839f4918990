#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <mpi.h>

#include <uit/mpi/collective.hpp>
#include <uit/mpi/error.hpp>
#include <uit/mpi/mpi_link.hpp>
#include <uit/mpi/neighbors.hpp>
#include <uit/mpi/host_group.hpp>
#include <uit/mpi/library.hpp>
#include <uit/mpi/private_communicator.hpp>
#include <uit/mpi/simulated_exchange.hpp>
#include <uit/mpi/sparse_exchange.hpp>
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

/// The processes of a communicator. Its destructor is collective, too, so all processes destroy their worlds in the same order.
///
///     uit::World world{std::make_shared<uit::mpi::MpiWorld>(communicator)};   // in a program that uses MPI itself
class MpiWorld final : public WorldModel {
 public:
  /// Uses the communicator, which must return errors and outlive the world. MPI must grant MPI_THREAD_SERIALIZED. While
  /// several threads use the world, no other code may call MPI. Collective.
  explicit MpiWorld(MPI_Comm communicator, MpiWorldOptions options = {})
      : WorldModel(std::make_shared<ProcessState>(std::move(options.hooks))), communicator_(communicator) {
    LookUp();
    neighbors_ = std::make_shared<const std::vector<ProcessIdentity>>(FindNeighbors(communicator));
    Process()->WatchOver(*neighbors_);
    shares_memory_ = options.shares_memory;
    sparse_communicator_ = std::make_shared<PrivateCommunicator>(communicator, Process());
    host_group_ = std::make_shared<HostGroup>(communicator, Process(), options.shares_memory);
  }

  std::size_t Rank() const override { return rank_; }
  std::size_t Size() const override { return size_; }
  std::string Library() const override { return DescribeLibrary(); }

  BytesByRank ExchangeSparsely(BytesByRank outgoing) override {
    const MPI_Comm communicator = sparse_communicator_->Get();
    if constexpr (is_simulated) return ExchangeSimulated(*Process(), communicator, size_, std::move(outgoing));
    SparseExchange exchange(communicator, sparse_communicator_->NextTag(), rank_, std::move(outgoing));
    FinishTogether(*Process(), "in a collective call", [&] { return exchange.TryFinish(); });
    return exchange.TakeIncoming();
  }

  std::vector<Bytes> AllGather(ByteView mine, Deadline deadline) override {
    if constexpr (is_simulated) return WorldModel::AllGather(mine, deadline);
    struct Parts {
      Bytes sent;
      std::uint64_t mine;
      std::vector<std::uint64_t> sizes;
      Bytes received{};
      std::vector<int> counts{}, offsets{};
    };
    const auto parts = std::make_shared<Parts>(Parts{{mine.begin(), mine.end()}, mine.size(), std::vector<std::uint64_t>(size_)});
    const auto gather = [&](const char* call, auto&& start) {
      if (Collective(*Process(), call, parts, start, deadline)) return;
      Process()->Watch().Check(call);
      throw PeerLost("the other processes do not come to a collective call in time", std::nullopt);
    };
    gather("MPI_Iallgather", [&](MPI_Request* request) {
      return MPI_Iallgather(&parts->mine, 1, MPI_UINT64_T, parts->sizes.data(), 1, MPI_UINT64_T, communicator_, request);
    });
    std::size_t total = 0;
    for (const std::uint64_t size : parts->sizes) {
      parts->counts.push_back(CheckedCount(size));
      parts->offsets.push_back(CheckedCount(total));
      total += size;
    }
    parts->received.resize(static_cast<std::size_t>(CheckedCount(total)));
    gather("MPI_Iallgatherv", [&](MPI_Request* request) {
      return MPI_Iallgatherv(parts->sent.data(), parts->counts[rank_], MPI_BYTE, parts->received.data(), parts->counts.data(),
                             parts->offsets.data(), MPI_BYTE, communicator_, request);
    });
    std::vector<Bytes> all(size_);
    for (std::size_t rank = 0; rank < size_; ++rank) {
      const auto first = parts->received.begin() + parts->offsets[rank];
      all[rank].assign(first, first + parts->counts[rank]);
    }
    return all;
  }

  Bytes Broadcast(Bytes from_root, std::size_t root) override {
    if constexpr (is_simulated) return WorldModel::Broadcast(std::move(from_root), root);
    struct Part {
      Bytes bytes;
      std::uint64_t size;
    };
    const auto part = std::make_shared<Part>(Part{std::move(from_root), 0});
    part->size = part->bytes.size();
    const auto broadcast = [&](void* buffer, int count) {
      Collective(*Process(), "MPI_Ibcast", part, [&](MPI_Request* request) {
        return MPI_Ibcast(buffer, count, MPI_BYTE, static_cast<int>(root), communicator_, request);
      });
    };
    broadcast(&part->size, sizeof part->size);
    const int count = CheckedCount(part->size);
    part->bytes.resize(part->size);
    broadcast(part->bytes.data(), count);
    return std::move(part->bytes);
  }

  void Max(std::span<std::uint64_t> values) override {
    if constexpr (is_simulated) return WorldModel::Max(values);
    const auto kept = std::make_shared<std::vector<std::uint64_t>>(values.begin(), values.end());
    Collective(*Process(), "MPI_Iallreduce", kept, [&](MPI_Request* request) {
      const int count = CheckedCount(kept->size() * sizeof(std::uint64_t)) / static_cast<int>(sizeof(std::uint64_t));
      return MPI_Iallreduce(MPI_IN_PLACE, kept->data(), count, MPI_UINT64_T, MPI_MAX, communicator_, request);
    });
    std::ranges::copy(*kept, values.begin());
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
    const auto site = std::make_shared<SurvivorSite>(SurvivorSite{communicator_, *neighbors_, rank_, shares_memory_});
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
        sparse_communicator_(original.sparse_communicator_),
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

  MPI_Comm communicator_;
  bool owns_ = false;
  std::shared_ptr<HostGroup> host_group_;
  std::shared_ptr<PrivateCommunicator> sparse_communicator_;  // for ExchangeSparsely of all duplicates
  std::shared_ptr<const std::vector<ProcessIdentity>> neighbors_;
  bool shares_memory_ = true;
  std::vector<std::size_t> windows_;  // lent to this world
  std::size_t rank_ = 0;
  std::size_t size_ = 0;
};

}  // namespace uit::mpi
