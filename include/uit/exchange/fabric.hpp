#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/exchange/exchange.hpp>
#include <uit/exchange/handshake.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/function_ref.hpp>
#include <uit/link/open_links.hpp>
#include <uit/link/out_port.hpp>
#include <uit/link/progress_engine.hpp>
#include <uit/link/world.hpp>

namespace uit {

/// Options of a fabric. All processes must use the same values, except for num_workers, max_pace and joins_own.
struct FabricOptions {
  std::size_t num_workers = 1;    ///< threads of this process that own exchanges
  std::size_t num_slots = 16;     ///< frames per peer and direction that may be sent and not yet acknowledged
  std::size_t payload_bytes = 0;  ///< links carry at least this payload; larger exchanges added after Connect open a link more
  std::uint32_t max_pace = Connection::default_max_pace;  ///< polls skipped at most between values for a slow peer
  bool shares_memory = true;      ///< exchanges within a host use shared memory, if the world provides it
  bool joins_own = false;         ///< exchanges between two workers of this process need no link: they have a box at once
};

/// Connects a process to its peers.
///
/// Each peer with a common exchange gets one connection, and another if an exchange with larger frames is added later. Any
/// worker that polls moves the frames of all connections. If two processes share memory, each exchange between them gets a
/// box there instead (unless it is too large), and the worker of the exchange moves its frames.
///
///     uit::Fabric fabric{session.World()};
///     uit::Process reach{.fabric = &fabric, .peer = 1, .key = {.channel = 7}};
///     uit::Inlet<int, uit::Policy{}, uit::TransportSet<uit::Process>> inlet{reach};
///     fabric.Connect();                 // every process; from here on messages flow
///     inlet.TryPut(42);
///     fabric.Close();                   // every process
///
/// After Close, ends accept no more messages. Messages that have arrived can still be read, even after the fabric is
/// destroyed. Destroy a fabric before its world.
class Fabric {
 public:
  /// Limit of the MPI requests of a process, over all its fabrics. Beyond it some MPI implementations abort.
  static constexpr std::size_t max_requests = 65'536;
  /// The largest payload of a frame.
  static constexpr std::size_t max_payload_bytes = (std::size_t{1} << 30) - sizeof(FrameHeader);

  /// Throws Error if num_workers is 0 or num_slots is out of range.
  explicit Fabric(World world, FabricOptions options = {});
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;
  /// Closes the fabric if Close was not called. Waits up to 10 s, or 2 s while an exception propagates. Errors go to the
  /// process state.
  ~Fabric();

  /// Returns the world given to the constructor. The fabric's links use streams of their own, separate from this world's.
  const World& GetWorld() const { return world_; }

  /// Announces the sending half of an exchange to a peer, at the next Connect. Frames that depart through the returned
  /// port wait for Connect. Call it while no other thread uses the fabric.
  OutPort AddOutgoing(std::size_t peer, std::size_t worker, const ExchangeSpec& spec, std::shared_ptr<FrameBox> box);
  /// Announces the receiving half of an exchange to a peer, at the next Connect. Returns the box in which frames arrive: `box`,
  /// unless the other half is in this process and has brought one. Call it while no other thread uses the fabric.
  std::shared_ptr<FrameBox> AddIncoming(std::size_t peer, const ExchangeSpec& spec, std::shared_ptr<FrameBox> box);

  /// Returns the half of an exchange that several ends share. The first call for a key creates it with `make()`. Throws
  /// if an earlier end used another spec. Call it while no other thread uses the fabric.
  std::shared_ptr<ExchangeHalf> Share(std::size_t peer, const ExchangeSpec& spec, bool is_incoming,
                                      FunctionRef<std::shared_ptr<ExchangeHalf>()> make);

  /// Connects the exchanges announced since the last call. Collective. Throws on every process, with the same text, if
  /// two halves do not match, if one is missing, or if a link cannot be opened.
  void Connect();

  /// Moves the frames of all workers, unless another worker is doing so. Never waits. Any worker. Returns whether
  /// anything arrived.
  bool Poll() { return engine_->Poll(); }
  /// Runs `f` while holding the process's lock, under which it communicates with its peers. Returns false if another
  /// thread holds the lock; then `f` did not run. Never waits. Any thread.
  template <std::invocable F>
  bool Exclusively(F&& f) {
    return engine_->Process().Exclusively(std::forward<F>(f));
  }
  /// Returns the progress engine, which moves the frames. It lives as long as any end needs it.
  const std::shared_ptr<ProgressEngine>& Engine() const { return engine_; }

  /// Closes the connections to all peers: sends the messages that the ends have accepted, receives all messages in
  /// flight, then closes the links. Collective. No other thread may use the fabric or its ends from now on. Returns false
  /// if a peer did not answer by the deadline. Then some buffers were leaked on purpose (NumLeaked), and the processes
  /// should not communicate again.
  bool Close(Deadline deadline = After(std::chrono::seconds(10)));

  /// Returns the number of buffers leaked because a peer may still use them.
  std::size_t NumLeaked() const { return num_leaked_; }
  /// Returns, for each peer on the same host, the number of exchanges in both directions that are too large for shared
  /// memory of their own (max_shared_box_bytes). Their frames use the link to the peer, under the process's lock. Peers
  /// without such exchanges are not listed. Call it after Connect.
  const std::map<std::size_t, std::size_t>& UnsharedExchanges() const { return unshared_; }
  /// Returns the number of frames that this process has received. Call it while no other thread uses the fabric.
  std::uint64_t NumFramesReceived() const { return engine_->NumFramesReceived(); }

 private:
  struct Shared {
    ExchangeSpec spec;
    std::shared_ptr<ExchangeHalf> half;
  };

  void Check(std::size_t peer, std::size_t worker) const;
  bool IsOwn(std::size_t peer) const { return options_.joins_own && peer == world_.Rank(); }
  /// A half of an exchange within this process.
  struct OwnHalf {
    ExchangeSpec spec;
    std::shared_ptr<FrameBox> box;
    bool is_incoming;
    bool lends;  // whether it reads frames where they lie, when it is added
  };
  /// Adds a half, and returns its box: if the receiving half reads frames where they lie, and they are not too large, an end of the
  /// box that both halves have; else the box of the half that was added first. Throws Error if the two do not match.
  std::shared_ptr<FrameBox> OwnBox(const OwnHalf& half);
  /// Throws if an option is not the same on every process. Collective.
  void CheckOptions() const;
  /// Finds the peers' numbers of the announced exchanges. Returns what does not match, or an empty string.
  std::string Match(const BytesByRank& greetings);
  PeerRequests Requests() const;
  std::string CheckLinks() const;
  std::map<std::size_t, SharedBoxes> OpenConnections();
  bool HasPlace(const SharedBoxes& memory, const Announcement& half) const {
    if (half.is_incoming != 0) return memory.incoming.contains(half.index);
    return memory.outgoing.contains(engine_->Outgoing(half.index).remote_index);
  }
  void ShareBoxes(const std::map<std::size_t, SharedBoxes>& shared);
  bool TryFinishHalves();
  bool SayGoodbye(Deadline deadline);
  /// Pulls the frames that have arrived, then drops all connections and shared boxes.
  void DropConnections();
  std::size_t NumRequests(std::size_t num_connections) const {
    return 2 * (options_.num_slots + Connection::num_uncredited) * num_connections;
  }
  /// Updates the number of MPI requests that this fabric claims from the process's limit.
  void ClaimRequests();

  World world_;
  FabricOptions options_;
  std::shared_ptr<ProgressEngine> engine_;
  std::map<std::size_t, std::vector<Announcement>> announced_;           // by peer, since the last Connect
  std::map<std::tuple<std::size_t, ExchangeKey, bool>, Shared> halves_;  // by peer, key and direction
  std::map<ExchangeKey, OwnHalf> own_halves_;                            // those whose other half is still to be added
  std::map<std::size_t, std::size_t> payload_bytes_;                     // by peer, of its newest link
  std::map<std::size_t, std::size_t> unshared_;                          // by peer, see UnsharedExchanges
  World private_world_;                                                  // duplicate of world_, with streams of its own
  int num_connects_ = 0;          // each has a stream of its own
  std::size_t num_requests_ = 0;  // as claimed from the limit of the process
  bool is_connected_ = false;
  bool is_clean_ = true;
  std::size_t num_leaked_ = 0;
};

}  // namespace uit

#if !UIT_COMPILED
#include <uit/exchange/fabric.ipp>
#endif
