// Workers fill boxes. The worker that holds the process's lock moves the frames of all. Under every schedule.
#include <uit/link/progress_engine.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include <uit/link/frame.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/link.hpp>
#include <uit/link/process_state.hpp>
#include <uit/link/connection.hpp>
#include <uit/link/connection.ipp>       // this and the following: for a Sync of its own
#include <uit/link/frame_box.ipp>
#include <uit/link/process_state.ipp>
#include <uit/link/progress_engine.ipp>

#include "tests/support/catch.hpp"
#include "tests/support/explored_atomic.hpp"
#include "tests/support/schedule_count.hpp"
#include "tests/support/schedule_explorer.hpp"
#include "tests/support/watched.hpp"

namespace {

using namespace uit::testing;
using uit::Frame;

/// The content of a frame: its worker, and its number among that worker's frames.
struct Message {
  std::uint32_t worker = 0;
  int number = 0;
};
void Write(Frame& frame, Message message) {
  frame.Reserve(sizeof message);
  frame.Header() = uit::FrameHeader{};
  frame.Header().num_bytes = sizeof message;
  std::memcpy(frame.Payload(), &message, sizeof message);
}
Message Read(const Frame& frame) {
  Message message;
  Explorer::Expect(frame.Header().num_bytes == sizeof message, "a frame is torn");
  std::memcpy(&message, frame.Payload(), sizeof message);
  return message;
}

/// The peer: receives what is sent, and acknowledges it whenever it is asked for frames. It sends a few frames itself.
class Peer {
 public:
  static constexpr std::size_t max_workers = 3;
  static constexpr int max_puts = 4;

  Peer(int num_to_send, bool takes_all) : num_to_send_{num_to_send}, takes_all_{takes_all} {}

  // A link. Only the holder of the lock may use it.
  bool HasRoom() const { return num_used_.Value() >= 0; }
  bool TrySend(Frame& frame) {
    num_used_ = num_used_.Value() + 1;
    if (frame.Header().kind != uit::FrameKind::data) return true;
    ++num_taken_;
    const Message message = Read(frame);
    Explorer::Expect(message.worker < max_workers && message.number <= max_puts, "a frame is torn");
    Explorer::Expect(messages[message.worker][static_cast<std::size_t>(message.number - 1)].Value() == message.number,
                     "a frame left before it was filled");
    int& newest = newest_[message.worker];
    Explorer::Expect(takes_all_ ? message.number == newest + 1 : message.number > newest, "a frame is out of order");
    newest = message.number;
    return true;
  }
  bool TryReceive(Frame& frame) {
    num_used_ = num_used_.Value() + 1;
    if (num_sent_ == num_to_send_ && num_acknowledged_ == num_taken_) return false;
    if (num_asked_++ % 2 == 1) return false;  // nothing this time
    Write(frame, {0, num_sent_ + 1});
    if (num_sent_ < num_to_send_) ++num_sent_;
    else frame.Header().kind = uit::FrameKind::credit;
    frame.Header().acknowledged = num_acknowledged_ = num_taken_;
    return true;
  }
  bool TryClose() { return true; }
  std::size_t Abandon() { return 0; }

  /// Returns the number of the worker's last received frame.
  int Newest(std::size_t worker) const { return newest_[worker]; }

  /// The last action of a worker before it gives a frame away.
  std::array<std::array<Watched, max_puts>, max_workers> messages;

 private:
  int num_to_send_;
  bool takes_all_;
  Watched num_used_{0};
  int num_asked_ = 0;
  int num_sent_ = 0;
  std::uint32_t num_taken_ = 0;
  std::uint32_t num_acknowledged_ = 0;
  std::array<int, max_workers> newest_{};
};
/// The peer as a link that the connection uses.
struct PeerLink {
  Peer* peer;
  bool HasRoom() { return peer->HasRoom(); }
  bool TrySend(Frame& frame) { return peer->TrySend(frame); }
  bool TryReceive(Frame& frame) { return peer->TryReceive(frame); }
  bool TryClose() { return peer->TryClose(); }
  std::size_t Abandon() { return peer->Abandon(); }
};

/// Workers with one box each put a few frames. One more thread, if there is one, only moves frames. The window holds one
/// frame, so most frames wait in a box. Every accepted frame leaves without a further put. The frames of the peer arrive at
/// the first worker.
template <std::size_t num_workers, std::size_t n, int num_puts, int num_polls, bool keeps_every = true, int num_arrivals = 1>
struct EngineScenario {
  static constexpr std::size_t num_threads = n;
  using Engine = uit::BasicProgressEngine<Explored>;
  using Box = Engine::FrameBox;
  static_assert(num_workers <= Peer::max_workers && num_puts <= Peer::max_puts);

  Peer peer{num_arrivals, keeps_every};
  Engine engine{std::make_shared<Engine::ProcessState>(), num_workers};
  std::shared_ptr<Box> arrivals = Box::Every(num_arrivals + 1);
  std::array<int, num_workers> num_accepted{};
  int num_arrived = 0;

  EngineScenario() {
    for (std::size_t worker = 0; worker < num_workers; ++worker)
      engine.AddOutgoing(0, worker, keeps_every ? Box::Every(2) : Box::Latest(), false);
    engine.AddIncoming(0, arrivals, sizeof(Message));
    engine.AddConnection(0, uit::AnyLink{std::make_unique<PeerLink>(&peer)}, 1);
    engine.Activate();
  }

  void Run(std::size_t thread) {
    if (thread < num_workers) {
      for (int i = 0; i < num_puts; ++i) Put(thread);
      if (thread == 0) Step();
    } else {
      for (int i = 0; i < num_polls; ++i) engine.Poll();
    }
  }
  void Finish() {
    for (int i = 0; i < 4 * static_cast<int>(num_workers) * num_puts; ++i) engine.Poll();
    for (std::size_t worker = 0; worker < num_workers; ++worker)
      Explorer::Expect(peer.Newest(worker) == num_accepted[worker], "a frame waits until its worker puts another");
    while (Step()) {
    }
    Explorer::Expect(num_arrived == num_arrivals, "a frame that arrived was lost");
  }
  void Put(std::size_t worker) {
    const int number = num_accepted[worker] + 1;
    peer.messages[worker][static_cast<std::size_t>(number) - 1] = Watched{number};
    Frame frame;
    Write(frame, {static_cast<std::uint32_t>(worker), number});
    if (engine.TryDepart(engine.Outgoing(worker), worker, frame)) num_accepted[worker] = number;
  }
  bool Step() {
    if (!arrivals->TryStep()) return false;
    Explorer::Expect(Read(arrivals->Get()).number == ++num_arrived, "a frame arrived out of order");
    return true;
  }
};

}  // namespace

TEST_CASE("Every frame that is put leaves in order without a further put under every schedule") {
  CheckExhausted<EngineScenario<1, 2, 2, 2>>("connection, a worker and a helper");
  CheckExhausted<EngineScenario<1, 2, 2, 2, false>>("connection, newest frames");
  CheckExhausted<EngineScenario<2, 2, 2, 0>>("connection, 2 workers", nightly_bound_of_many);
  CheckExhausted<EngineScenario<1, 3, 1, 1, true, 0>>("connection, a worker and 2 helpers", nightly_bound_of_many);
}
