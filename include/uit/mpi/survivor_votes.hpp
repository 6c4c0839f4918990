#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include <mpi.h>

#include <uit/mpi/await.hpp>
#include <uit/mpi/error.hpp>
#include <uit/mpi/keep.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/function_ref.hpp>
#include <uit/support/pause.hpp>
#include <uit/support/peer_watch.hpp>

namespace uit::mpi {

/// What the processes of a host need to go on without those that have ended: a communicator on which nothing else goes from one
/// process to another, and their identities.
struct SurvivorSite {
  static constexpr int vote_tag = 0;  ///< of SurvivorVotes; worlds use larger ones

  MPI_Comm communicator = MPI_COMM_NULL;      ///< of all processes, also of those that have ended; it must return errors
  std::vector<ProcessIdentity> identities{};  ///< by rank of the communicator
  std::size_t rank = 0;                       ///< of this process
  bool shares_memory = true;                  ///< with each other
};

/// By rank of the communicator: 1 if the process has ended, otherwise 0.
using Roll = std::vector<std::uint8_t>;

/// Lets the remaining processes agree on which of them have ended. Never blocks inside MPI.
///
/// Each process tells all others whom it misses, again whenever it misses one more, until all those that it does not miss have last
/// said the same as it has. The system tells each process of every end, so all come to the same result. If one more process ends
/// at the end of a vote, some may have a result that lacks it. They notice that end in their next call, and then vote again: the
/// others wait for them.
class SurvivorVotes {
 public:
  /// Refers to the site.
  explicit SurvivorVotes(const SurvivorSite& site) : site_(site), others_(site.identities.size()) {}
  SurvivorVotes(const SurvivorVotes&) = delete;
  SurvivorVotes& operator=(const SurvivorVotes&) = delete;
  /// Keeps the buffers of messages that are still under way, as those to processes that have ended may be for ever.
  ~SurvivorVotes() {
    for (Ballot& ballot : sent_) ballot.KeepIfPending();
    for (Other& other : others_) other.heard.KeepIfPending();
  }

  /// Sets `roll` to the result. `find_gone` returns those of which this process knows that they have ended; it may only ever add to
  /// them. Returns false at the deadline.
  bool TryAgree(Roll& roll, Deadline deadline, FunctionRef<Roll()> find_gone) {
    const auto is_over = [&] {
      roll = find_gone();
      Say(roll);
      Hear(roll);
      const bool is_sent = IsSent(roll);
      return is_sent && AreAllAgreed(roll);
    };
    return WaitUntil(is_over, deadline);
  }

 private:
  /// A message, which may be under way. MPI may still use it if it is.
  struct Ballot {
    std::shared_ptr<Roll> roll = std::make_shared<Roll>();
    std::size_t to = 0;
    MPI_Request request = MPI_REQUEST_NULL;

    void KeepIfPending() {
      if (request != MPI_REQUEST_NULL) Keep(std::move(roll));
    }
  };
  /// What another process has been told, and what it has said itself.
  struct Other {
    Roll told{};
    Ballot heard{};
  };

  bool IsOther(const Roll& roll, std::size_t rank) const { return rank != site_.rank && roll[rank] == 0; }

  void Say(const Roll& roll) {
    for (std::size_t rank = 0; rank < others_.size(); ++rank) {
      if (!IsOther(roll, rank) || others_[rank].told == roll) continue;
      Ballot& ballot = sent_.emplace_back(Ballot{std::make_shared<Roll>(roll), rank});
      Check(MPI_Isend(ballot.roll->data(), CheckedCount(roll.size()), MPI_BYTE, static_cast<int>(rank), SurvivorSite::vote_tag,
                      site_.communicator, &ballot.request),
            "MPI_Isend");
      others_[rank].told = roll;
    }
  }
  /// Whether all messages have gone, except those to processes that have ended.
  bool IsSent(const Roll& roll) {
    std::erase_if(sent_, [](Ballot& ballot) { return IsComplete(ballot.request); });
    return std::ranges::none_of(sent_, [&](const Ballot& ballot) { return roll[ballot.to] == 0; });
  }
  void Hear(const Roll& roll) {
    for (std::size_t rank = 0; rank < others_.size(); ++rank) {
      if (!IsOther(roll, rank)) continue;
      Ballot& heard = others_[rank].heard;
      if (heard.request != MPI_REQUEST_NULL && !IsComplete(heard.request)) continue;
      int has_come = 0;
      const int from = static_cast<int>(rank);
      Check(MPI_Iprobe(from, SurvivorSite::vote_tag, site_.communicator, &has_come, MPI_STATUS_IGNORE), "MPI_Iprobe");
      if (has_come == 0) continue;
      heard.roll->resize(roll.size());
      Check(MPI_Irecv(heard.roll->data(), CheckedCount(roll.size()), MPI_BYTE, from, SurvivorSite::vote_tag, site_.communicator,
                      &heard.request),
            "MPI_Irecv");
    }
  }
  bool AreAllAgreed(const Roll& roll) const {
    for (std::size_t rank = 0; rank < others_.size(); ++rank) {
      const Ballot& heard = others_[rank].heard;
      if (IsOther(roll, rank) && (heard.request != MPI_REQUEST_NULL || *heard.roll != roll)) return false;
    }
    return true;
  }

  const SurvivorSite& site_;
  std::vector<Other> others_;  // by rank of the communicator
  std::list<Ballot> sent_;
};

}  // namespace uit::mpi
