#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/link/link.hpp>
#include <uit/link/process_state.hpp>

namespace uit {

/// Bytes sent during set-up.
using Bytes = std::vector<std::byte>;
/// Bytes for other processes, or from them, by rank.
using BytesByRank = std::map<std::size_t, Bytes>;

/// Memory that the processes of one host share: by rank, the part that each has provided. Each part begins on a cache
/// line.
using HostMemory = std::map<std::size_t, MutableByteView>;

struct Survivors;

/// The processes of a run, for set-up and tear-down.
///
/// If a comment does not say "Any thread", the function is collective or pairs with a call of the peer. One thread calls
/// it, and not while a run updates nodes.
class WorldModel {
 public:
  /// For a process with a lock of its own.
  WorldModel();
  /// For a duplicate, which shares the process state.
  explicit WorldModel(std::shared_ptr<ProcessState> process);
  WorldModel(const WorldModel&) = delete;
  WorldModel& operator=(const WorldModel&) = delete;
  virtual ~WorldModel();
  /// Returns this process's number, from 0. Any thread.
  virtual std::size_t Rank() const = 0;
  /// Returns the number of processes. Any thread.
  virtual std::size_t Size() const = 0;
  /// Sends outgoing[r] to rank r, and returns by rank what has been sent to this one. Empty parts are not sent. Collective.
  virtual BytesByRank ExchangeSparsely(BytesByRank outgoing) = 0;
  /// Returns every rank's bytes on every rank, in rank order. Collective. If the model can watch the time, throws PeerLost at the
  /// deadline.
  virtual std::vector<Bytes> AllGather(ByteView mine, Deadline deadline);
  /// Returns the bytes of rank `root` on every rank; the others' arguments are ignored. The root may return before the others have
  /// called it. Collective.
  virtual Bytes Broadcast(Bytes from_root, std::size_t root);
  /// Replaces each value by the largest that any rank has in its place. Collective; all ranks pass as many.
  virtual void Max(std::span<std::uint64_t> values);
  /// Opens a link to a peer, which may be this process itself. Frames of different streams never mix. The peer opens the
  /// other end. Nothing may be sent before both ends are open.
  virtual AnyLink OpenLink(std::size_t peer, int stream, const LinkOptions& options) = 0;
  /// Returns the processes that share memory with this one, including itself, in ascending order. Any thread.
  virtual std::vector<std::size_t> HostRanks() const;
  /// Returns memory that all processes of the host share: from this process at least `num_bytes`, with undefined content.
  /// Returns an empty map, on all processes of the host, if no memory can be shared. The memory stays until Release, or
  /// until the process ends if Release fails. Collective.
  virtual HostMemory ShareMemory(std::size_t num_bytes);
  /// Returns the name and version of the library that carries the messages, for reports; empty if none does. Any thread.
  virtual std::string Library() const;
  /// Returns a world of the same processes with streams of its own. Its collective calls and those of this world come in the same
  /// order on all processes. Collective.
  virtual std::shared_ptr<WorldModel> Duplicate() = 0;
  /// Frees the resources of a duplicate. Collective; call it only if all links were closed cleanly. Returns false, with
  /// nothing freed, if the other processes do not take part by the deadline.
  virtual bool Release(Deadline deadline) = 0;
  /// Returns a world of the processes of this one that have not ended, with a state of its own. Returns nothing if this kind of
  /// world has none, or if those processes do not all take part by the deadline. Unlike other collective calls, it works after a
  /// process has ended. Call it on a duplicate that nothing else uses; later use that only to call this again, if one more process
  /// has ended. Collective over the processes that have not ended.
  virtual std::optional<Survivors> FindSurvivors([[maybe_unused]] Deadline deadline);

  /// Returns the state that this world shares with its duplicates. Not collective; any thread.
  const std::shared_ptr<ProcessState>& Process() const { return process_; }

 private:
  std::shared_ptr<ProcessState> process_;
};

/// A world of one process.
class Alone final : public WorldModel {
 public:
  /// By default with a lock of its own.
  using WorldModel::WorldModel;
  std::size_t Rank() const override { return 0; }
  std::size_t Size() const override { return 1; }
  BytesByRank ExchangeSparsely(BytesByRank outgoing) override;
  AnyLink OpenLink(std::size_t, int, const LinkOptions&) override;
  std::shared_ptr<WorldModel> Duplicate() override;
  bool Release(Deadline) override { return true; }
};

/// A handle to the processes that take part; cheap to copy. By default a world of this process only.
/// `mpi::Session::World()` returns the world of an MPI job.
class World {
 public:
  World();
  /// A handle to a model, which must not be null.
  explicit World(std::shared_ptr<WorldModel> model);

  /// Returns this process's number, from 0.
  std::size_t Rank() const { return model_->Rank(); }
  /// Returns the number of processes.
  std::size_t Size() const { return model_->Size(); }
  /// Whether this is rank 0, the process that loads, places and gathers.
  bool IsRoot() const { return Rank() == 0; }

  /// See WorldModel. Collective.
  BytesByRank ExchangeSparsely(BytesByRank outgoing) const;
  /// See WorldModel. Collective.
  void Max(std::span<std::uint64_t> values) const { model_->Max(values); }
  /// Returns the largest value of all ranks. Collective.
  std::uint64_t Max(std::uint64_t mine) const {
    Max({&mine, 1});
    return mine;
  }
  /// Returns the smallest value of all ranks. Collective.
  std::uint64_t Min(std::uint64_t mine) const { return ~Max(~mine); }

  /// Returns parts[r] of rank 0's argument on rank r. The arguments of the other ranks are ignored. Collective.
  Bytes Scatter(std::vector<Bytes> parts) const;
  /// Returns every rank's bytes on rank 0, in rank order; an empty vector on the others. Works in several exchanges, so
  /// that rank 0 receives at most `max_at_once` bytes, or one byte from each rank, in each. `max_at_once` must be the
  /// same on all ranks. Collective.
  std::vector<Bytes> Gather(ByteView mine, std::size_t max_at_once = std::size_t{512} << 20) const;
  /// Returns every rank's values on rank 0, in rank order; an empty vector on the others. Collective.
  template <TriviallyCopyable V>
    requires std::is_default_constructible_v<V>
  std::vector<V> GatherValues(const std::vector<V>& mine) const {
    std::vector<V> all;
    for (const Bytes& theirs : Gather(std::as_bytes(std::span<const V>(mine)))) {
      const std::size_t first = all.size();
      all.resize(first + theirs.size() / sizeof(V));
      if (!theirs.empty()) std::memcpy(static_cast<void*>(all.data() + first), theirs.data(), theirs.size());
    }
    return all;
  }
  /// See WorldModel. Collective.
  std::vector<Bytes> AllGather(ByteView mine, Deadline deadline = never) const { return model_->AllGather(mine, deadline); }
  /// Returns every rank's value on every rank, in rank order; see WorldModel. Collective.
  template <TriviallyCopyable V>
    requires std::is_default_constructible_v<V>
  std::vector<V> AllGatherValue(const V& mine, Deadline deadline = never) const {
    std::vector<V> values;
    for (const Bytes& theirs : AllGather(BytesOf(mine), deadline)) values.push_back(LoadBytes<V>(theirs));
    return values;
  }
  /// Returns the bytes of rank `root` on every rank; the others' arguments are ignored. Collective.
  Bytes Broadcast(Bytes from_root, std::size_t root = 0) const { return model_->Broadcast(std::move(from_root), root); }
  /// Returns rank 0's value on every rank. Collective.
  template <TriviallyCopyable V>
    requires std::is_default_constructible_v<V>
  V BroadcastValue(const V& from_root) const {
    const ByteView bytes = BytesOf(from_root);
    return LoadBytes<V>(Broadcast(Bytes(bytes.begin(), bytes.end())));
  }
  /// Throws an `E` on every rank if any rank passes a non-empty complaint; the text is that of the lowest such rank. Collective.
  template <std::derived_from<Error> E = Error>
  void Agree(const std::string& complaint) const {
    if (const std::string first = FirstComplaint(complaint); !first.empty()) throw E(first);
  }

  /// See WorldModel. Pairs with the peer's call.
  AnyLink OpenLink(std::size_t peer, int stream, const LinkOptions& options) const;
  /// See WorldModel. Any thread.
  std::string Library() const;
  /// See WorldModel. Any thread.
  std::vector<std::size_t> HostRanks() const;
  /// See WorldModel. Collective.
  HostMemory ShareMemory(std::size_t num_bytes) const;
  /// See WorldModel. Collective.
  World Duplicate() const;
  /// Frees a world that came from Duplicate; see WorldModel. Collective.
  bool Release(Deadline deadline = After(std::chrono::seconds(10))) const;
  /// See WorldModel. Collective over the processes that have not ended.
  std::optional<Survivors> FindSurvivors(Deadline deadline) const;
  /// Returns the state that all worlds of this process share.
  const std::shared_ptr<ProcessState>& Process() const { return model_->Process(); }

 private:
  /// Returns the complaint of the lowest rank that has one, on every rank. Collective.
  std::string FirstComplaint(const std::string& mine) const;

  std::shared_ptr<WorldModel> model_;
};

/// The processes that are left of a world.
struct Survivors {
  World world;                     ///< they have the same order in it
  std::vector<std::size_t> ranks;  ///< by rank there: the rank in the world that has lost the others
};

}  // namespace uit

#if !UIT_COMPILED
#include <uit/link/world.ipp>
#endif
