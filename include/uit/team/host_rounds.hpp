#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <uit/config.hpp>
#include <uit/link/frame.hpp>
#include <uit/link/link.hpp>
#include <uit/link/process_state.hpp>
#include <uit/link/world.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/clock.hpp>
#include <uit/team/leaving.hpp>

namespace uit {

/// Rounds in which hosts bring a block of bytes each, and get the blocks of all. Never blocks inside MPI.
///
/// One process of each host takes part, its leader. A round takes ceil(log2(hosts)) steps with one message each: in step k a leader
/// sends the 2^k blocks that it has to the leader 2^k hosts before it, and gets as many from the one 2^k hosts after it (Bruck et al.
/// 1997). One thread at a time may use it; but see FindFailure.
class HostRounds {
 public:
  /// Opens links to the leaders that this process exchanges messages with. `leaders` are ranks, one per host; `own` is this process's
  /// position among them. All blocks of a round together have at most `max_bytes` bytes. Nothing may be sent before all leaders have
  /// returned from it.
  HostRounds(const World& world, int stream, std::vector<std::size_t> leaders, std::size_t own, std::size_t max_bytes);

  /// The block of this host. Fill it, then call Begin.
  Bytes& OwnBlock() { return blocks_[own_]; }
  /// Begins round `number` of run `run`. Call TryEnd until it returns true before the next Begin. `number` grows.
  void Begin(std::uint64_t run, std::uint64_t number);
  /// Returns whether all blocks of the round have arrived. Never waits. Throws as Leaving::Throw if another host has left the run, in the
  /// last round only if it has failed, and Error if what it sends makes no sense.
  bool TryEnd();
  /// Between Begin and the end of the round: the host whose leader has to send next.
  std::size_t Awaited() const { return HostAfter(std::size_t{1} << next_); }
  /// Returns a host's block, after TryEnd returned true and until the next OwnBlock.
  ByteView Block(std::size_t host) const { return blocks_[host]; }

  /// Tells the hosts that receive from this one that it takes part in no further round of run `run` but the last, and why. They tell those
  /// that receive from them. If there is no room for the message, later calls of FindFailure send it. Waits only for the process's lock.
  void Leave(std::uint64_t run, Leaving how = {});
  /// Returns how another host has failed in run `run`, if one has said so; its leader's rank is then in `rank`. Takes in what has
  /// arrived, between rounds and within one. Never waits: finds nothing while another thread has the process's lock. Any thread of the
  /// process, at any time.
  Leaving FindFailure(std::uint64_t run, std::size_t& rank);
  /// Begins the last round of run `run`, after Leave. It ends once all hosts have come to it. Call TryEnd until it returns true.
  void BeginLast(std::uint64_t run, std::uint64_t number) {
    Begin(run, number);
    is_last_ = true;
  }
  /// Goes through a last round with all hosts, and closes the links. Returns false at the deadline, or if a process of this host has
  /// ended.
  bool Close(Deadline deadline);

 private:
  struct Step {
    std::size_t to = 0;
    std::size_t from = 0;
    std::size_t num_blocks = 0;
  };

  /// The leader of another host.
  struct Peer {
    AnyLink link;
    // Of rounds, in order: the one in which this host is, the next, and the last of the run.
    std::array<Frame, 3> waiting{};
    std::size_t num_waiting = 0;
    std::uint64_t left_run = 0;      // the last run that it has left
    Leaving left{};
    std::optional<Leaving> untold{};  // how this host has left, if the peer has not been told yet
  };

  std::size_t HostAfter(std::size_t reach) const { return (own_ + reach) % blocks_.size(); }
  void Pack(const Step& step);
  /// Takes in what has arrived from a peer in run `run`. With the process's lock.
  void TakeIn(Peer& peer, std::uint64_t run);
  /// Takes the first of the frames that wait.
  void TakeFirst(Peer& peer);
  /// Tells the peers that do not know it how this host has left run `run`, as far as there is room. With the process's lock.
  void TellUntold(std::uint64_t run);
  bool TryReceive(std::size_t reach, const Step& step);
  void Unpack(std::size_t reach, const Step& step);
  [[noreturn]] void Refuse(const Step& step) const;

  std::shared_ptr<ProcessState> process_;
  std::vector<Step> steps_;
  std::map<std::size_t, Peer> peers_;     // by rank
  std::vector<Bytes> blocks_;             // by host
  std::size_t own_;
  std::size_t max_bytes_;
  std::uint64_t run_ = 0;
  std::uint64_t number_ = 0;
  std::size_t next_ = 0;   // step
  bool is_packed_ = false;  // the message of that step
  bool has_sent_ = false;
  bool is_last_ = false;   // the round, to which hosts come after they have left
  Frame outgoing_;
  Frame incoming_;
  Frame arrived_;  // the message of a step
  Frame notice_;
};

}  // namespace uit

#if !UIT_COMPILED
#include <uit/team/host_rounds.ipp>
#endif
