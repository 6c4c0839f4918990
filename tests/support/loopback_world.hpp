#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/duct/ring_duct.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/pause.hpp>
#include <uit/support/sync.hpp>
#include <uit/link/frame.hpp>
#include <uit/link/link.hpp>
#include <uit/link/world.hpp>

namespace uit::testing {

/// One direction of a loopback link: the frames in flight from one process to another, in order.
///
/// A gate decides how many of them the receiver may see. It is open unless a test closes it to deliver frame by frame.
class LoopbackPipe {
 public:
  static constexpr std::uint64_t open = std::numeric_limits<std::uint64_t>::max();

  explicit LoopbackPipe(std::size_t num_frames) : frames_(num_frames) {}

  /// Closes the gate: from now on frames arrive only by Deliver.
  void CloseGate() { num_deliverable_.store(num_received_.load()); }
  void OpenGate() { num_deliverable_.store(open); }
  /// Lets one more frame arrive. Returns false if none is in flight.
  bool Deliver() {
    if (num_deliverable_.load() == open || num_deliverable_.load() == num_sent_.load()) return false;
    num_deliverable_.fetch_add(1);
    return true;
  }
  /// Returns the number of frames that Deliver could let arrive.
  std::uint64_t NumUndelivered() const {
    return num_deliverable_.load() == open ? 0 : num_sent_.load() - num_deliverable_.load();
  }
  /// Frames that were sent and not received: now, and at most.
  std::uint64_t NumInFlight() const { return num_sent_.load() - num_received_.load(); }
  std::uint64_t MaxInFlight() const { return max_in_flight_; }

 private:
  friend class LoopbackLink;

  RingDuct<Frame, Spsc> frames_;
  std::atomic<std::uint64_t> num_sent_{0};
  std::atomic<std::uint64_t> num_received_{0};
  std::atomic<std::uint64_t> num_deliverable_{open};
  std::uint64_t max_in_flight_ = 0;  // the sender's
};

/// A link within this program. Like a link over MPI, it has as many slots as it was opened with. Each slot has a buffer of
/// the largest size, and is freed when its frame has been received.
class LoopbackLink {
 public:
  LoopbackLink(std::shared_ptr<LoopbackPipe> out, std::shared_ptr<LoopbackPipe> in, const LinkOptions& options)
      : out_(std::move(out)), in_(std::move(in)), options_(options) {}

  bool HasRoom() const { return out_->NumInFlight() < options_.num_sends; }
  bool TrySend(Frame& frame) {
    if (!HasRoom()) return false;
    if (frame.Header().num_bytes > options_.payload_bytes) throw Error("a frame is too large for its link");
    slot_.Reserve(options_.payload_bytes);
    slot_.Take(frame);
    if (!out_->frames_.TryPut(std::move(slot_))) throw std::logic_error("the pipe is shorter than its link");
    out_->num_sent_.fetch_add(1);
    out_->max_in_flight_ = std::max(out_->max_in_flight_, out_->NumInFlight());
    return true;
  }
  bool TryReceive(Frame& frame) {
    if (in_->num_received_.load() >= in_->num_deliverable_.load() || in_->frames_.TryStep(1) == 0) return false;
    frame.Reserve(options_.payload_bytes);
    frame.Swap(in_->frames_.Get());
    in_->num_received_.fetch_add(1);
    return true;
  }
  /// Throws if a frame is still in flight to this end, because MPI would lose it.
  bool TryClose() {
    if (out_->NumInFlight() != 0) return false;
    if (in_->NumInFlight() != 0) throw std::logic_error("a link is closed while a frame is in flight to it");
    return true;
  }
  std::size_t Abandon() { return static_cast<std::size_t>(std::exchange(num_leaked_, 0)); }
  /// The result that Abandon must return.
  void PretendLeaks(std::size_t num_leaked) { num_leaked_ = num_leaked; }

 private:
  std::shared_ptr<LoopbackPipe> out_;
  std::shared_ptr<LoopbackPipe> in_;
  LinkOptions options_;
  Frame slot_;
  std::size_t num_leaked_ = 0;
};
static_assert(Link<LoopbackLink>);

/// Both ends of a link between two processes, or of a link to itself, for tests that need no world.
struct LoopbackPair {
  std::shared_ptr<LoopbackPipe> there;
  std::shared_ptr<LoopbackPipe> back;
  LinkOptions options;

  explicit LoopbackPair(const LinkOptions& o)
      : there(std::make_shared<LoopbackPipe>(o.num_sends)),
        back(std::make_shared<LoopbackPipe>(o.num_sends)),
        options(o) {}
  AnyLink First() const { return AnyLink(std::make_unique<LoopbackLink>(there, back, options)); }
  AnyLink Second() const { return AnyLink(std::make_unique<LoopbackLink>(back, there, options)); }
};

/// Simulates some processes in this program. Each is driven by its own thread, or all by one. Collective calls need one
/// thread per process; `Together` starts them.
///
///     LoopbackNetwork network{2};
///     Fabric a{network.World(0)}, b{network.World(1)};
///     …                                                  // creates the ends
///     network.Together([&](std::size_t rank) { (rank == 0 ? a : b).Connect(); });
class LoopbackNetwork {
 public:
  /// Without processes per host, the processes share no memory.
  explicit LoopbackNetwork(std::size_t num_processes, std::size_t processes_per_host = 0)
      : state_(std::make_shared<State>(num_processes, processes_per_host)) {}

  std::size_t Size() const { return state_->num_processes; }
  uit::World World(std::size_t rank) {
    return uit::World{std::make_shared<Model>(state_, rank, std::make_shared<ProcessState>(), 0)};
  }
  /// Calls f(rank) in one thread per process. When all have ended, throws the first exception.
  void Together(const std::function<void(std::size_t)>& f) {  // no template: the body of each thread takes long to compile
    std::vector<std::exception_ptr> errors(Size());
    std::vector<std::thread> threads;
    [&]() noexcept {  // noexcept: if the system has no thread left, the program ends and says so
      for (std::size_t rank = 0; rank < Size(); ++rank) {
        threads.emplace_back([&, rank] {
          try {
            f(rank);
          } catch (...) {
            errors[rank] = std::current_exception();
          }
        });
      }
    }();
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& error : errors) {
      if (error) std::rethrow_exception(error);
    }
  }
  /// Returns the direction from one process to another on the first fabric that was connected; see LoopbackPipe.
  LoopbackPipe& Pipe(std::size_t from, std::size_t to) { return *state_->PipeOf(1, 0, from, to, 0); }
  /// Returns the number of releases that were requested.
  std::size_t NumReleased() const { return state_->num_released.load(); }
  /// From now on, a process that opens a link fails.
  void RefuseLinks(std::size_t rank) { state_->refused_rank = rank; }
  /// From now on, collective calls do not find the other processes.
  void LosePeers() { state_->are_peers_lost = true; }

 private:
  struct alignas(cache_line) SharedLine {
    std::byte bytes[cache_line];
  };
  struct State {
    State(std::size_t n, std::size_t per_host) : num_processes(n), processes_per_host(per_host) {}

    std::shared_ptr<LoopbackPipe> PipeOf(std::size_t communicator, int stream, std::size_t from, std::size_t to,
                                         std::size_t num_frames) {
      const std::lock_guard lock(mutex);
      auto& pipe = pipes[{communicator, stream, from, to}];
      if (pipe == nullptr) pipe = std::make_shared<LoopbackPipe>(std::max<std::size_t>(num_frames, 1));
      return pipe;
    }

    const std::size_t num_processes;
    const std::size_t processes_per_host;
    std::mutex mutex;
    std::vector<std::unique_ptr<SharedLine[]>> memory;
    std::map<std::tuple<std::size_t, int, std::size_t, std::size_t>, std::shared_ptr<LoopbackPipe>> pipes;
    /// What was sent in the n-th collective call of a communicator, by sender, and which processes have fetched it.
    struct Round {
      std::map<std::size_t, BytesByRank> sent;
      std::size_t num_done = 0;
    };
    std::map<std::pair<std::size_t, std::size_t>, Round> rounds;
    std::atomic<std::size_t> num_released{0};
    std::size_t refused_rank = std::numeric_limits<std::size_t>::max();
    std::atomic<bool> are_peers_lost{false};
  };

  class Model final : public WorldModel {
   public:
    Model(std::shared_ptr<State> state, std::size_t rank, std::shared_ptr<ProcessState> process,
          std::size_t communicator)
        : WorldModel(std::move(process)), state_(std::move(state)), rank_(rank), communicator_(communicator) {}

    std::size_t Rank() const override { return rank_; }
    std::size_t Size() const override { return state_->num_processes; }

    BytesByRank ExchangeSparsely(BytesByRank outgoing) override {
      std::erase_if(outgoing, [](const auto& part) { return part.second.empty(); });
      const std::pair key{communicator_, num_rounds_++};
      {
        const std::lock_guard lock(state_->mutex);
        state_->rounds[key].sent[rank_] = std::move(outgoing);
      }
      WaitUntil([&] {
        const std::lock_guard lock(state_->mutex);
        return state_->rounds[key].sent.size() == Size();
      });
      const std::lock_guard lock(state_->mutex);
      auto& round = state_->rounds[key];
      BytesByRank incoming;
      for (auto& [sender, parts] : round.sent)
        if (const auto part = parts.find(rank_); part != parts.end()) incoming.emplace(sender, part->second);
      if (++round.num_done == Size()) state_->rounds.erase(key);
      return incoming;
    }

    AnyLink OpenLink(std::size_t peer, int stream, const LinkOptions& options) override {
      if (rank_ == state_->refused_rank) throw Error("no more links");
      return AnyLink(std::make_unique<LoopbackLink>(
          state_->PipeOf(communicator_, stream, rank_, peer, options.num_sends),
          state_->PipeOf(communicator_, stream, peer, rank_, options.num_sends), options));
    }

    std::vector<std::size_t> HostRanks() const override {
      std::vector<std::size_t> ranks;
      const std::size_t per_host = state_->processes_per_host;
      for (std::size_t rank = 0; per_host != 0 && rank < Size(); ++rank) {
        if (rank / per_host == rank_ / per_host) ranks.push_back(rank);
      }
      return ranks;
    }
    HostMemory ShareMemory(std::size_t num_bytes) override {
      const std::size_t num_lines = num_bytes / cache_line + 1;
      MutableByteView mine;
      {
        const std::lock_guard lock(state_->mutex);
        state_->memory.push_back(std::make_unique_for_overwrite<SharedLine[]>(num_lines));
        mine = {state_->memory.back()[0].bytes, num_bytes};
        std::memset(mine.data(), 0xA5, num_bytes);  // undefined content
      }
      const std::vector<Bytes> parts = AllGather(BytesOf(mine), never);
      HostMemory memory;
      for (const std::size_t rank : HostRanks()) memory.emplace(rank, LoadBytes<MutableByteView>(parts[rank]));
      return memory;
    }

    std::shared_ptr<WorldModel> Duplicate() override {
      return std::make_shared<Model>(state_, rank_, Process(), communicator_ * 100 + ++num_duplicates_);
    }
    bool Release(Deadline) override {
      if (state_->are_peers_lost) return false;
      state_->num_released.fetch_add(1);
      return true;
    }

   private:
    std::shared_ptr<State> state_;
    std::size_t rank_;
    std::size_t communicator_;
    std::size_t num_rounds_ = 0;
    std::size_t num_duplicates_ = 0;
  };

  std::shared_ptr<State> state_;
};

}  // namespace uit::testing
