#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <uit/support/bytes.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/link/link.hpp>
#include <uit/link/process_state.hpp>

namespace uit {

/// Bytes as they travel at set-up.
using Bytes = std::vector<std::byte>;

/// Memory that the processes of one node see: by rank, the part that each has brought, which begins on a line.
using HostMemory = std::map<std::size_t, MutableByteView>;

/// The processes of a run, for set-up and tear-down. Every function but `Rank` and `Size` is collective or
/// pairs with a call of the peer's, is called by one thread, and stays out of the run loop.
class WorldModel {
 public:
  /// Of a process with a lock of its own.
  WorldModel() : process_(std::make_shared<ProcessState>()) {}
  /// For a duplicate: of the same process.
  explicit WorldModel(std::shared_ptr<ProcessState> process) : process_(std::move(process)) {}
  WorldModel(const WorldModel&) = delete;
  WorldModel& operator=(const WorldModel&) = delete;
  virtual ~WorldModel() = default;
  /// This process's number, from 0. Any thread.
  virtual std::size_t Rank() const = 0;
  /// How many processes there are. Any thread.
  virtual std::size_t Size() const = 0;
  /// Sends outgoing[r] to rank r, and returns what each rank sent here. Collective.
  virtual std::vector<Bytes> AllToAll(std::vector<Bytes> outgoing) = 0;
  /// A link to a peer (to oneself too). Links of different streams do not meet. The peer opens the other end;
  /// nothing may be sent before both are open.
  virtual AnyLink OpenLink(std::size_t peer, int stream, const LinkOptions& options) = 0;
  /// The processes that see memory of one another, this one among them, ascending. Any thread.
  virtual std::vector<std::size_t> HostRanks() const { return {}; }
  /// Memory that all processes of the node see: at least `num_bytes` of this one's, in which anything may stand. Empty,
  /// for all of a node, if there can be none. It stays until Release, and for good if that does not come about. Collective.
  virtual HostMemory ShareMemory([[maybe_unused]] std::size_t num_bytes) { return {}; }
  /// What carries the messages, for reports: name and version of a library; empty if nothing does. Any thread.
  virtual std::string Library() const { return {}; }
  /// The same processes with streams of their own. Collective.
  virtual std::shared_ptr<WorldModel> Duplicate() = 0;
  /// Gives back what `Duplicate` took. Collective; call it only if all links were closed cleanly. False, with
  /// nothing given back, if the others do not come by the deadline.
  virtual bool Release(Deadline deadline) = 0;

  /// What this world shares with its duplicates. Not collective; any thread.
  const std::shared_ptr<ProcessState>& Process() const { return process_; }

 private:
  std::shared_ptr<ProcessState> process_;
};

/// One process by itself.
class Alone final : public WorldModel {
 public:
  /// By default with a lock of its own.
  using WorldModel::WorldModel;
  std::size_t Rank() const override { return 0; }
  std::size_t Size() const override { return 1; }
  std::vector<Bytes> AllToAll(std::vector<Bytes> outgoing) override { return outgoing; }
  AnyLink OpenLink(std::size_t, int, const LinkOptions&) override {
    throw Error("a process alone has nobody to link to");
  }
  std::shared_ptr<WorldModel> Duplicate() override { return std::make_shared<Alone>(Process()); }
  bool Release(Deadline) override { return true; }
};

/// The processes that take part; a handle, cheap to copy. By default this process alone;
/// `mpi::Session::World()` gives those of an MPI job.
class World {
 public:
  World() : model_(std::make_shared<Alone>()) {}
  /// A handle to a model, which must not be null.
  explicit World(std::shared_ptr<WorldModel> model) : model_(std::move(model)) {}

  /// This process's number, from 0.
  std::size_t Rank() const { return model_->Rank(); }
  /// How many processes there are.
  std::size_t Size() const { return model_->Size(); }
  /// Whether this is the process that loads, places and gathers.
  bool IsRoot() const { return Rank() == 0; }

  /// See WorldModel. Collective.
  std::vector<Bytes> AllToAll(std::vector<Bytes> outgoing) const { return model_->AllToAll(std::move(outgoing)); }

  /// Gives rank r parts[r] of rank 0's argument; the others' arguments are not looked at. Collective.
  Bytes Scatter(std::vector<Bytes> parts) const {
    if (!IsRoot()) parts.clear();
    parts.resize(Size());
    return std::move(AllToAll(std::move(parts))[0]);
  }
  /// Brings every rank's bytes to rank 0, in order of rank; an empty vector elsewhere. Rank 0 receives at most `max_at_once`
  /// bytes in one exchange, or one of each rank, and all in as many as that takes; the same on all. Collective.
  std::vector<Bytes> Gather(ByteView mine, std::size_t max_at_once = std::size_t{512} << 20) const {
    const std::size_t share = std::max<std::size_t>(max_at_once / Size(), 1);
    const std::size_t longest = std::ranges::max(AllGatherValue(mine.size()));
    std::vector<Bytes> whole(IsRoot() ? Size() : 0);
    for (std::size_t at = 0; at < longest; at += share) {
      const std::size_t begin = std::min(at, mine.size());
      const ByteView piece = mine.subspan(begin, std::min(share, mine.size() - begin));
      std::vector<Bytes> outgoing(Size());
      outgoing[0].assign(piece.begin(), piece.end());
      const std::vector<Bytes> incoming = AllToAll(std::move(outgoing));
      for (std::size_t rank = 0; rank < whole.size(); ++rank)
        whole[rank].insert(whole[rank].end(), incoming[rank].begin(), incoming[rank].end());
    }
    return whole;
  }
  /// Gives everyone every rank's bytes, in order of rank. Collective.
  std::vector<Bytes> AllGather(ByteView mine) const {
    return AllToAll(std::vector<Bytes>(Size(), Bytes(mine.begin(), mine.end())));
  }
  /// Gives everyone every rank's value, in order of rank. Collective.
  template <TriviallyCopyable V>
    requires std::is_default_constructible_v<V>
  std::vector<V> AllGatherValue(const V& mine) const {
    std::vector<V> values;
    for (const Bytes& theirs : AllGather(BytesOf(mine))) values.push_back(LoadBytes<V>(theirs));
    return values;
  }
  /// Gives everyone rank 0's bytes. Collective.
  Bytes Broadcast(Bytes from_root) const {
    std::vector<Bytes> parts;
    if (IsRoot()) parts.assign(Size(), from_root);
    return Scatter(std::move(parts));
  }
  /// Throws on every rank if any rank brings a complaint; the first rank's words. Collective.
  void Agree(const std::string& complaint) const {
    for (const Bytes& words : AllGather(std::as_bytes(std::span{complaint}))) {
      if (!words.empty()) throw Error(std::string(reinterpret_cast<const char*>(words.data()), words.size()));
    }
  }

  /// See WorldModel. Pairs with the peer's call.
  AnyLink OpenLink(std::size_t peer, int stream, const LinkOptions& options) const {
    return model_->OpenLink(peer, stream, options);
  }
  /// See WorldModel. Any thread.
  std::string Library() const { return model_->Library(); }
  /// See WorldModel. Any thread.
  std::vector<std::size_t> HostRanks() const { return model_->HostRanks(); }
  /// See WorldModel. Collective.
  HostMemory ShareMemory(std::size_t num_bytes) const { return model_->ShareMemory(num_bytes); }
  /// See WorldModel. Collective.
  World Duplicate() const { return World{model_->Duplicate()}; }
  /// Gives back a world that came from Duplicate; see WorldModel. Collective.
  bool Release(Deadline deadline = After(std::chrono::seconds(10))) const { return model_->Release(deadline); }
  /// What all worlds of this process share.
  const std::shared_ptr<ProcessState>& Process() const { return model_->Process(); }

 private:
  std::shared_ptr<WorldModel> model_;
};

}  // namespace uit
