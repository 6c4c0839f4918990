#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/exchange/exchange.hpp>
#include <uit/exchange/handshake.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/support/pause.hpp>
#include <uit/link/open_links.hpp>
#include <uit/link/out_port.hpp>
#include <uit/link/progress_engine.hpp>
#include <uit/link/world.hpp>

namespace uit {

/// Options of a fabric. The same on every process, but for the number of workers.
struct FabricOptions {
  std::size_t num_workers = 1;    ///< threads of this process that own exchanges
  std::size_t num_slots = 16;     ///< frames per peer that may be sent and not acknowledged, each way
  std::size_t payload_bytes = 0;  ///< smallest payload that links are opened for, if exchanges come later
  std::uint32_t max_pace = Connection::default_max_pace;  ///< polls left out at most between values for a peer that lags
  bool shares_memory = true;      ///< exchanges within a node go through shared memory, if the world has any
};

/// What joins one process to others: a wire to each peer that it shares an exchange with, moved by whichever worker
/// polls; and, to peers that it shares memory with, a box there for each exchange, which its own worker moves.
///
///     uit::Fabric fabric{session.World()};
///     uit::Process reach{.fabric = &fabric, .peer = 1, .key = {.channel = 7}};
///     uit::Inlet<int, uit::Policy{}, uit::TransportSet<uit::Process>> inlet{reach};
///     fabric.Connect();                 // every process; from here on messages flow
///     inlet.TryPut(42);
///     fabric.Close();                   // every process
///
/// After Close, ends accept nothing more, and what has arrived can still be read, even if the fabric is gone. A fabric
/// ends before its world does.
class Fabric {
 public:
  /// Messages that MPI may hold for a process at once, for all its fabrics; beyond it some implementations abort.
  static constexpr std::size_t max_requests = 65'536;
  /// The largest payload of a frame.
  static constexpr std::size_t max_payload_bytes = (std::size_t{1} << 30) - sizeof(FrameHeader);

  /// Throws for options that cannot be.
  explicit Fabric(World world, FabricOptions options = {})
      : world_(std::move(world)),
        options_(options),
        hub_(std::make_shared<ProgressEngine>(world_.Process(), options.num_workers)) {
    if (options_.num_workers == 0) throw Error("a fabric needs a worker");
    if (options_.num_slots == 0 || options_.num_slots > max_requests / 4)
      throw Error("a fabric has between 1 and " + std::to_string(max_requests / 4) + " slots per peer");
  }
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;
  /// Closes, if that has not been done; waits less long while an exception is on its way.
  ~Fabric() {
    try {
      Close(After(std::chrono::seconds(std::uncaught_exceptions() == 0 ? 10 : 2)));
    } catch (const std::exception& trouble) {  // a destructor has nobody to tell; Close() has
      world_.Process()->Fail(trouble.what());
    } catch (...) {
      world_.Process()->Fail("a close threw what is no std::exception");
    }
  }

  /// The processes that the fabric was made for. Its links have streams of their own, apart from this world's.
  const World& GetWorld() const { return world_; }

  /// Announces the sending half of an exchange to a peer. What departs by the returned port waits for Connect.
  /// While no other thread uses the fabric.
  OutPort AddOutgoing(std::size_t peer, std::size_t worker, const ExchangeSpec& spec, std::shared_ptr<FrameBox> box) {
    Check(peer, worker);
    announced_[peer].push_back({spec, hub_->NumOutgoing(), 0});
    return OutPort{hub_, hub_->AddOutgoing(peer, worker, std::move(box), spec.key.is_report != 0), worker};
  }
  /// Announces the receiving half of an exchange with a peer. While no other thread uses the fabric.
  std::shared_ptr<FrameBox> AddIncoming(std::size_t peer, const ExchangeSpec& spec, std::shared_ptr<FrameBox> box) {
    Check(peer, 0);
    announced_[peer].push_back({spec, hub_->NumIncoming(), 1});
    hub_->AddIncoming(peer, box, spec.frame_bytes);
    return box;
  }

  /// The half of an exchange that several ends share: made by `make()` when the first end asks for it. Throws if
  /// an end has asked for it with another spec.
  template <std::derived_from<ExchangeHalf> Half, std::invocable Make>
  std::shared_ptr<Half> Share(std::size_t peer, const ExchangeSpec& spec, bool is_incoming, Make&& make) {
    const std::tuple key{peer, spec.key, is_incoming};
    auto found = halves_.find(key);
    if (found == halves_.end()) found = halves_.emplace(key, Shared{spec, std::forward<Make>(make)()}).first;
    const Shared& shared = found->second;
    if (std::string words = shared.spec.Difference(spec, "one end", "another end here"); !words.empty())
      throw Error(words);
    return std::static_pointer_cast<Half>(shared.half);
  }

  /// Opens what has been announced since the last time. Collective. Throws on every process, with the
  /// same words, if two halves do not match, one is missing, or a link cannot be opened.
  void Connect();

  /// Moves everyone's frames unless another worker is at it. Never waits. Any worker.
  /// Returns whether anything arrived.
  bool Poll() { return hub_->Poll(); }
  /// Runs `f` while holding the lock under which this process talks to its peers; false if somebody else
  /// has it. Never waits.
  template <std::invocable F>
  bool Exclusively(F&& f) {
    return hub_->Process().Exclusively(std::forward<F>(f));
  }
  /// What moves the frames; it outlives the fabric as long as ends need it.
  const std::shared_ptr<ProgressEngine>& Hub() const { return hub_; }

  /// Says goodbye to every peer: sends what the ends have accepted, receives all that is under way, then gives the
  /// links back. Collective, and no other thread may use the fabric or its ends any more. False if a peer did not
  /// answer by the deadline: then buffers were leaked on purpose (NumLeaked), and the processes should not talk again.
  bool Close(Deadline deadline = After(std::chrono::seconds(10)));

  /// Buffers leaked by a Close that could not end.
  std::size_t NumLeaked() const { return num_leaked_; }
  /// By peer that this process shares memory with: how many exchanges, in both directions together, are too large for shared
  /// memory of their own (max_shared_box_bytes). Their frames go by the link to the peer, under the process's lock. Only peers
  /// with such exchanges are listed. After Connect.
  const std::map<std::size_t, std::size_t>& UnsharedExchanges() const { return unshared_; }
  /// Frames this process has received.
  std::uint64_t NumFramesReceived() const { return hub_->NumFramesReceived(); }

 private:
  struct Shared {
    ExchangeSpec spec;
    std::shared_ptr<ExchangeHalf> half;
  };

  void Check(std::size_t peer, std::size_t worker) const {
    if (hub_->IsShut()) throw Error("the fabric has been closed");
    if (peer >= world_.Size()) throw Error("there is no rank " + std::to_string(peer) + " to exchange with");
    if (worker >= hub_->NumWorkers()) throw Error("there is no worker " + std::to_string(worker));
  }
  std::string Match(const std::vector<Bytes>& greetings, const Greeting& ours);
  PeerWishes Wishes() const;
  std::string CheckLinks() const;
  std::map<std::size_t, SharedBoxes> OpenWires();
  bool HasPlace(const SharedBoxes& memory, const Announcement& half) const {
    if (half.is_incoming != 0) return memory.incoming.contains(half.index);
    return memory.outgoing.contains(hub_->Outgoing(half.index).remote_index);
  }
  void ShareBoxes(const std::map<std::size_t, SharedBoxes>& shared);
  bool TryFinishHalves() {
    bool all = true;
    for (auto& [key, shared] : halves_) all &= shared.half->TryFinish();
    return all;
  }
  bool SayGoodbye(Deadline deadline);
  /// What has arrived is taken in; then nothing is left of the peers.
  void DropWires() {
    TryFinishHalves();
    num_leaked_ += hub_->DropWires();
    hub_->DetachBoxes();
    ClaimRequests();
  }
  std::size_t NumRequests(std::size_t num_wires) const { return 2 * (options_.num_slots + Connection::num_uncredited) * num_wires; }
  /// Tells the process how many its wires may have by now.
  void ClaimRequests() {
    const std::size_t before = std::exchange(num_requests_, NumRequests(hub_->NumWires()));
    world_.Process()->ClaimRequests(before, num_requests_);
  }

  World world_;
  FabricOptions options_;
  std::shared_ptr<ProgressEngine> hub_;
  std::map<std::size_t, std::vector<Announcement>> announced_;           // by peer, since the last Connect
  std::map<std::tuple<std::size_t, ExchangeKey, bool>, Shared> halves_;  // by peer, key and direction
  std::map<std::size_t, std::size_t> payload_bytes_;                     // by peer, of its open link
  std::map<std::size_t, std::size_t> unshared_;                          // by peer, see UnsharedExchanges
  World private_world_;                                                  // whose streams are this fabric's alone
  std::size_t num_requests_ = 0;  // claimed
  bool is_connected_ = false;
  bool is_clean_ = true;
  std::size_t num_leaked_ = 0;
};

}  // namespace uit

#if !UIT_COMPILED
#include <uit/exchange/fabric.ipp>
#endif
