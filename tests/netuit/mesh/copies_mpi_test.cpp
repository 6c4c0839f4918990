// How often bytes are copied on their way from worker to worker: from what a node writes, or the message that is put, to what the
// other worker reads. One process has two workers, whose frames stay in it; two processes share memory, or exchange frames over MPI.
#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include <netuit/graph/topologies.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/node.hpp>
#include <netuit/run/run.hpp>
#include <netuit/run/schedules.hpp>
#include <uit/exchange/aggregated/aggregated_duct.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/exchange/frame_window.hpp>
#include <uit/inlet.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/out_port.hpp>
#include <uit/outlet.hpp>
#include <uit/support/pause.hpp>
#include <uit/team/team.hpp>
#include <uit/transport/process.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/counted_copies.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/support/thrown.hpp"
#include "tests/uit/exchange/support/policies.hpp"
#include "tests/uit/link/support/shared_memory.hpp"
#include "tests/uit/mpi/support/ring.hpp"

using namespace uit;
using namespace uit::testing;
using namespace std::chrono_literals;

namespace {

constexpr auto patience = 60s;
using Value = Load<min_noted_bytes>;
using Row = std::vector<std::uint64_t>;
using Larger = Load<16 * min_noted_bytes>;

/// A number for each way between two workers.
struct ByWay {
  std::size_t in_process;
  std::size_t shared_memory;
  std::size_t mpi;

  std::size_t Here() const {
    const World world = MpiTestWorld();
    if (world.Size() == 1) return in_process;
    return world.HostRanks().size() > 1 ? shared_memory : mpi;
  }
};

template <typename T>
T Made(std::uint64_t number) {
  if constexpr (std::same_as<T, Row>) return Row(min_noted_bytes / sizeof(std::uint64_t), number);
  else return T::Number(number);
}
bool IsWhole(const Row& row, std::uint64_t number) { return row == Made<Row>(number); }
bool IsWhole(const Value& value, std::uint64_t number) { return value.Number() == number && value.IsWhole(); }

/// Exchanges of so many channels to the next process and from the previous one.
template <typename T, Policy policy>
class Channels {
 public:
  /// `has_larger`: another exchange between the same processes has larger frames.
  explicit Channels(std::size_t num_channels, bool has_larger = false) {
    for (std::size_t channel = 0; channel < num_channels; ++channel)
      ends_.emplace_back(fabric_, place_, Process{.channel = channel, .num_channels = num_channels, .depth = 4, .num_frames = 4});
    if (has_larger) larger_.emplace_back(fabric_, place_, Process{.key = {.layer = 1}});
    fabric_.Connect();
  }
  /// Sends a message through each channel by `send(inlet)`, and calls `receive(outlet)` until it returns true.
  void Exchange(auto&& send, auto&& receive) {
    for (auto& end : ends_) REQUIRE(send(end.inlet));
    for (auto& end : ends_) REQUIRE(WaitUntil([&] { return end.inlet.TryFlush(); }, After(patience)));
    for (auto& end : ends_) REQUIRE(WaitUntil([&] { return receive(end.outlet); }, After(patience)));
    world_.Agree({});  // all have received theirs
  }
  /// Returns how often the bytes of a message are copied by `exchange(number)`, once all buffers exist.
  std::size_t CopiesBy(auto&& exchange) {
    constexpr std::uint64_t num_rounds = 8;
    for (std::uint64_t number = 1; number < 4; ++number) exchange(number);
    const NotedCopies noted;
    for (std::uint64_t number = 4; number < 4 + num_rounds; ++number) exchange(number);
    return noted.NumBytes() / (num_rounds * ends_.size() * min_noted_bytes);  // rounded down: headers may be copied, too
  }

 private:
  World world_ = MpiTestWorld();
  RingPlace place_{world_};
  Fabric fabric_{world_, {.joins_own = true}};
  std::vector<RingEnds<T, policy>> ends_;
  std::vector<RingEnds<Larger, every>> larger_;
};

template <typename T, Policy policy>
std::size_t CopiesOfMessage(std::size_t num_channels, bool has_larger = false) {
  Channels<T, policy> channels{num_channels, has_larger};
  return channels.CopiesBy([&](std::uint64_t number) {
    const T message = Made<T>(number);
    channels.Exchange([&](auto& inlet) { return inlet.TryPut(message); },
                      [&](auto& outlet) { return outlet.TryStep() != 0 && IsWhole(outlet.Get(), number); });
  });
}

}  // namespace

TEST_CASE("A message that shares frames is copied at most three times on its way") {
  CHECK(CopiesOfMessage<Value, every_aggregated>(3) == 3);
  CHECK(CopiesOfMessage<Value, every_aggregated>(1) == ByWay{2, 3, 2}.Here());
  CHECK(CopiesOfMessage<Row, every_aggregated>(3) == 3);
  CHECK(CopiesOfMessage<Row, every_aggregated>(1) == ByWay{2, 3, 2}.Here());
}

TEST_CASE("A length that a peer changes in shared memory while messages are copied is noticed, and no message is cut") {
  const AggregatedOptions options{.num_channels = 2, .max_message_bytes = 20'000, .payload_bytes = 50'000, .depth = 4, .num_frames = 2};
  const auto in = FrameBox::Every(FrameWindow::BoxDepth(options.num_frames));
  const auto out = FrameBox::Every(FrameWindow::BoxDepth(options.num_frames));
  const auto reports = FrameBox::Latest();
  const auto receiver = std::make_shared<AggregatedEveryReceiver>(options, in, OutPort{reports}, nullptr);
  const SharedMemory memory{in->SharedBytes(options.payload_bytes)};
  in->CreateShared(memory.All(), options.payload_bytes);
  in->ReceiveBy(memory.All(), options.payload_bytes);
  out->SendBy(memory.All(), options.payload_bytes);
  const auto sender = std::make_shared<AggregatedEverySender>(options, OutPort{out}, reports);
  AggregatedInletDuct<Row, every_aggregated> first{sender, 0}, second{sender, 1};
  AggregatedOutletDuct<Row, every_aggregated> outlet{receiver, 0, Row{}};
  const auto send = [&](std::uint64_t number) {
    REQUIRE(first.TryPut(Made<Row>(number)));
    REQUIRE(second.TryPut(Made<Row>(number)));
    REQUIRE(first.TryFlush());
  };
  send(1);
  before_copy = [](const Copy& copy) {
    before_copy = nullptr;
    const MessageLength shorter = 8;
    std::memcpy(const_cast<std::byte*>(copy.from), &shorter, sizeof shorter);
  };
  CheckThrows([&] { outlet.TryStep(1); }, "has changed a frame");
  CHECK(before_copy == nullptr);
  CHECK(outlet.NumUnread() == 0);
  send(2);
  CHECK(outlet.TryStep(1) == 1);
  CHECK(IsWhole(outlet.Get(), 2));
}

TEST_CASE("A large message with a frame of its own is copied twice on its way, and not at all if it is lent and read in place") {
  CHECK(CopiesOfMessage<Row, every>(1) == 2);
  Channels<Row, every> channels{1};
  CHECK(channels.CopiesBy([&](std::uint64_t number) {
    const auto lend = [&](auto& inlet) {
      const auto room = inlet.TryLoan(min_noted_bytes / sizeof(number));
      if (room) std::ranges::fill(*room, number);
      return room && inlet.Publish(*room);
    };
    const auto read = [&](auto& outlet) {
      return outlet.TryRead([&](std::span<const std::uint64_t> row) { REQUIRE(row.back() == number); });
    };
    channels.Exchange(lend, read);
  }) == 0);
}

TEST_CASE("A message in a pool of slots, and a newest message, are copied a known number of times on their way") {
  CHECK(CopiesOfMessage<Value, every>(1) == ByWay{3, 4, 3}.Here());
  CHECK(CopiesOfMessage<Value, every_pooled>(3) == ByWay{3, 4, 3}.Here());
  CHECK(CopiesOfMessage<Value, latest>(1) == ByWay{3, 4, 3}.Here());
  CHECK(CopiesOfMessage<Value, latest_pooled>(3) == ByWay{3, 4, 3}.Here());
  CHECK(CopiesOfMessage<Value, latest_aggregated>(3) == 4);
  CHECK(CopiesOfMessage<Row, latest_aggregated>(3) == 4);
}

TEST_CASE("Frames over MPI are swapped, except beside an exchange of larger frames, where they are copied on both sides") {
  CHECK(CopiesOfMessage<Value, every_aggregated>(3, true) == ByWay{3, 3, 5}.Here());
  CHECK(CopiesOfMessage<Value, latest_pooled>(3, true) == ByWay{3, 4, 5}.Here());
}

TEST_CASE("A published value is copied twice on its way, and once more if it becomes visible by update") {
  const World world = MpiTestWorld();
  Team team{world, {.threads = world.Size() == 1 ? 2U : 1U}};
  netuit::Mesh mesh{team, netuit::MakeRing(4)};  // of whose nodes each worker has two, with neighbours on the other
  const auto value = mesh.AddPublishedField<Value>();
  struct Counted {
    std::size_t out = 0;      // of the field's memory
    std::size_t into = 0;     // the field's memory
    std::size_t inside = 0;   // the field's memory
    std::size_t outside = 0;  // the field's memory: from frame to frame
  };
  const auto run = [&](auto schedule) {
    const NotedCopies noted;
    mesh.Run(schedule, [&](netuit::Node& node) {
      ++value[node].words[0];
      for (const auto edge : node.In()) value[node].words[1] += value[edge].words[0];
    });
    const auto is_inside = [&](const std::byte* place) {
      const netuit::FieldMemory& memory = value.Memory();
      const auto is_in = [&](const std::byte* first) { return place >= first && place < first + value.Shown().size_bytes(); };
      return is_in(memory.own) || is_in(memory.shown);
    };
    Counted counted;
    for (const Copy& copy : noted.All()) {
      const bool is_from = is_inside(copy.from);
      const bool is_to = is_inside(copy.to);
      (is_from ? is_to ? counted.inside : counted.out : is_to ? counted.into : counted.outside) += copy.num_bytes;
    }
    return counted;
  };
  const std::size_t per_update = 2 * min_noted_bytes * team.NumThreads();  // bytes of this process's nodes
  const auto check_by_update = [&](auto few, auto many) {
    run(few);  // makes memory for values by update
    const Counted before = run(few);
    const Counted after = run(many);
    const std::size_t num_bytes = per_update * (many.updates - few.updates);
    CHECK(after.inside - before.inside == num_bytes);
    CHECK(after.out - before.out == num_bytes);
    CHECK(after.into - before.into == num_bytes);
    CHECK(after.outside == 0);
  };
  check_by_update(netuit::EveryUpdate{.updates = 10}, netuit::EveryUpdate{.updates = 30});
  check_by_update(netuit::Dataflow{.updates = 10}, netuit::Dataflow{.updates = 30});
  run(netuit::Free{.updates = 1});  // returns to one place for each value
  const Counted free = run(netuit::Free{.updates = 20});
  CHECK(free.inside == 0);
  CHECK(free.out >= 20 * per_update);
  CHECK(free.out <= 25 * per_update);  // what ends the run is sent, too
  CHECK(free.into >= per_update);
  CHECK(free.into <= free.out);
  CHECK(free.outside == 0);
}
