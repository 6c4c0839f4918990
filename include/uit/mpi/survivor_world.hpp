#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <mpi.h>

#include <uit/config.hpp>
#include <uit/link/link.hpp>
#include <uit/link/process_state.hpp>
#include <uit/link/world.hpp>
#include <uit/mpi/collective.hpp>
#include <uit/mpi/library.hpp>
#include <uit/mpi/memory_file.hpp>
#include <uit/mpi/mpi_link.hpp>
#include <uit/mpi/survivor_exchange.hpp>
#include <uit/mpi/survivor_votes.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/support/function_ref.hpp>
#include <uit/support/peer_watch.hpp>
#include <uit/support/process_hooks.hpp>

namespace uit::mpi {

/// The processes of one host that are left of a communicator after others have ended. It needs nothing of MPI but messages from
/// one process to another, because MPI's collective calls would wait for those that have ended. It never blocks inside MPI. Shared
/// memory comes from the system, not from MPI, for the same reason.
///
/// Messages differ by their tags: each group of survivors has tags of its own, and of these, each world that Duplicate makes.
class SurvivorWorld final : public WorldModel {
 public:
  /// Agrees with the others on a world of those that have not ended; see WorldModel::FindSurvivors. For `find_gone` see
  /// SurvivorVotes. Returns null at the deadline.
  static std::shared_ptr<SurvivorWorld> TryMake(std::shared_ptr<const SurvivorSite> site, const ProcessHooks& hooks,
                                                Deadline deadline, FunctionRef<Roll()> find_gone) {
    Roll roll;
    if (!SurvivorVotes(*site).TryAgree(roll, deadline, find_gone)) return nullptr;
    const auto process = std::make_shared<ProcessState>(hooks);
    return std::shared_ptr<SurvivorWorld>(new SurvivorWorld(std::make_shared<Crew>(std::move(site), std::move(roll)), process));
  }

  std::size_t Rank() const override { return rank_; }
  std::size_t Size() const override { return crew_->ranks.size(); }
  std::string Library() const override { return DescribeLibrary(); }
  /// The ranks of these processes in the site's communicator.
  const std::vector<std::size_t>& Ranks() const { return crew_->ranks; }

  BytesByRank ExchangeSparsely(BytesByRank outgoing) override {
    std::vector<Bytes> parts(Size());
    for (auto& [rank, bytes] : outgoing) parts.at(rank) = std::move(bytes);
    TryExchange(parts, never);  // throws if it fails
    BytesByRank incoming;
    for (std::size_t rank = 0; rank < Size(); ++rank)
      if (!parts[rank].empty()) incoming.emplace(rank, std::move(parts[rank]));
    return incoming;
  }

  AnyLink OpenLink(std::size_t peer, int stream, const LinkOptions& options) override {
    constexpr int last = tags_per_world - 1;
    if (stream < 0 || stream >= last) throw uit::Error("the survivors of a world have no tag for stream " + std::to_string(stream));
    return AnyLink(std::make_unique<MpiLink>(crew_->site->communicator, PeerOf(peer), first_tag_ + 1 + stream, options));
  }

  std::vector<std::size_t> HostRanks() const override {
    std::vector<std::size_t> all;
    for (std::size_t rank = 0; rank < Size() && crew_->site->shares_memory; ++rank) all.push_back(rank);
    return all;
  }

  HostMemory ShareMemory(std::size_t num_bytes) override {
    if (!crew_->site->shares_memory) return {};
    const MemoryFile mine(std::max<std::size_t>(num_bytes, 1));
    HostMemory memory;
    std::size_t rank = 0;
    const World world = Alias();
    for (const MemoryFile::Address& address : world.AllGatherValue(mine.GetAddress()))
      memory.emplace(rank++, address.file < 0 ? MutableByteView{} : MemoryFile::TryMap(address));
    const bool has_all = std::ranges::none_of(memory, [](const auto& part) { return part.second.empty(); });
    const bool is_shared = world.Min(has_all ? 1 : 0) != 0;
    for (const auto& part : memory) {
      if (is_shared) mapped_.push_back(part.second);
      else MemoryFile::Unmap(part.second);
    }
    return is_shared ? memory : HostMemory{};
  }

  std::shared_ptr<WorldModel> Duplicate() override {
    return std::shared_ptr<WorldModel>(new SurvivorWorld(crew_, Process()));
  }

  bool Release(Deadline deadline) override {
    if (std::exchange(is_released_, true)) return true;
    std::vector<Bytes> none(Size());
    if (!TryExchange(none, deadline)) return false;
    for (const MutableByteView part : std::exchange(mapped_, {})) MemoryFile::Unmap(part);
    return true;
  }

  std::optional<Survivors> FindSurvivors(Deadline deadline) override {
    const auto next = TryMake(crew_->site, Process()->Hooks(), deadline, [this] { return FindGone(); });
    if (!next) return std::nullopt;
    Survivors survivors{World{next}, {}};
    for (const std::size_t rank : next->Ranks())
      survivors.ranks.push_back(static_cast<std::size_t>(std::ranges::find(Ranks(), rank) - Ranks().begin()));
    return survivors;
  }

 private:
  static constexpr int tags_per_world = 1 << 8;
  static constexpr int worlds_per_crew = 1 << 12;
  static constexpr std::size_t max_gone = (std::size_t{1} << 10) - 1;

  /// Processes that go on together, and the world numbers that they have used.
  struct Crew {
    Crew(std::shared_ptr<const SurvivorSite> where, Roll missed) : site(std::move(where)), roll(std::move(missed)) {
      for (std::size_t rank = 0; rank < roll.size(); ++rank)
        if (roll[rank] == 0) ranks.push_back(rank);
      num_gone = roll.size() - ranks.size();
    }
    std::shared_ptr<const SurvivorSite> site;
    Roll roll;
    std::vector<std::size_t> ranks{};  // in the communicator
    std::size_t num_gone = 0;          // no two crews that a process takes part in have the same
    int num_worlds = 0;
  };

  SurvivorWorld(std::shared_ptr<Crew> crew, const std::shared_ptr<ProcessState>& process)
      : WorldModel(process),
        crew_(std::move(crew)),
        rank_(static_cast<std::size_t>(std::ranges::find(crew_->ranks, crew_->site->rank) - crew_->ranks.begin())) {
    const int number = crew_->num_worlds++;
    if (number == 0) WatchOverCrew();
    if (number >= worlds_per_crew || crew_->num_gone > max_gone) throw uit::Error("the survivors of a world have no tags left");
    first_tag_ = SurvivorSite::vote_tag + 1 + (static_cast<int>(crew_->num_gone) * worlds_per_crew + number) * tags_per_world;
    CheckTag(crew_->site->communicator, first_tag_ + tags_per_world - 1);
  }
  void WatchOverCrew() {
    std::vector<ProcessIdentity> identities;
    for (std::size_t rank = 0; rank < crew_->ranks.size(); ++rank) {
      identities.push_back(crew_->site->identities[crew_->ranks[rank]]);
      identities.back().rank = rank;
    }
    Process()->WatchOver(identities);
  }
  Roll FindGone() const {
    Roll roll = crew_->roll;
    for (const std::size_t rank : Process()->Watch().AllGone()) roll[crew_->ranks[rank]] = 1;
    return roll;
  }
  int PeerOf(std::size_t rank) const { return static_cast<int>(crew_->ranks.at(rank)); }
  /// This world as its collective helpers need it; it must not outlive this call.
  World Alias() { return World{std::shared_ptr<WorldModel>(std::shared_ptr<WorldModel>{}, this)}; }

  /// Sends each part to its rank, and replaces it by what that rank has sent to this one. See FinishTogether. If it fails, this world
  /// is not usable any more.
  bool TryExchange(std::vector<Bytes>& parts, Deadline deadline) {
    std::vector<int> peers;
    for (std::size_t rank = 0; rank < Size(); ++rank) peers.push_back(PeerOf(rank));
    SurvivorExchange exchange(crew_->site->communicator, first_tag_, std::move(peers), rank_, std::move(parts));
    if (!FinishTogether(*Process(), "in a collective call", [&] { return exchange.TryFinish(); }, deadline)) return false;
    parts = exchange.TakeIncoming();
    return true;
  }

  std::shared_ptr<Crew> crew_;
  std::size_t rank_;
  int first_tag_ = 0;
  std::vector<MutableByteView> mapped_;
  bool is_released_ = false;
};

}  // namespace uit::mpi
