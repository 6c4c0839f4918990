// Two processes over a link whose frames arrive when the test says so: every order of what either process does and of
// the arrivals, for small scripts.

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/event_orders.hpp"
#include "tests/support/goal.hpp"
#include "tests/uit/core/support/sanitized.hpp"
#include "tests/uit/exchange/support/subjects.hpp"

using namespace uit;
using namespace uit::testing;

namespace {

/// What two processes do. Of A: `0` and `1` put to that channel, `y` steps the way back. Of B: `0` and `1` step a
/// channel, `z` puts the way back. Of both: `f` flushes, `q` polls, `c` takes a step towards closing.
struct Script {
  std::string a, b;
  std::size_t num_slots = 2;
  std::size_t depth = 2;
  std::size_t num_channels = 1;
  std::size_t num_frames = 2;  // of an aggregated exchange
};

/// Of a frame of an aggregated exchange: two channels' messages, or four of one; of the newest, one.
constexpr std::size_t buffer_bytes = 24;

/// A's messages to B under `policy`, B's newest to A.
template <Policy policy>
class Scenario {
 public:
  explicit Scenario(const Script& script) : script_(script), pair_(Options()) {
    Connect(a_, 1, pair_.First());
    Connect(b_, 0, pair_.Second());
    pair_.there->CloseGate();
    pair_.back->CloseGate();
  }

  /// A process goes on, after so many frames have arrived there: when they do shows only then.
  std::size_t NumEvents() const { return NumEventsOfA() + NumEventsOfB(); }
  void Do(std::size_t n) {
    if (n < NumEventsOfA()) {
      for (; n != 0; --n) pair_.back->Deliver();
      DoA(script_.a[next_a_++]);
    } else {
      for (n -= NumEventsOfA(); n != 0; --n) pair_.there->Deliver();
      DoB(script_.b[next_b_++]);
    }
    if (!a_.is_closing && !b_.is_closing) CheckWindow();
  }
  void Finish() {
    if (!a_.is_closing && !b_.is_closing) Settle();
    Close();
    CheckAccounts();
    REQUIRE(pair_.there->MaxInFlight() <= Options().num_receives);
    REQUIRE(pair_.back->MaxInFlight() <= Options().num_receives);
  }

 private:
  std::size_t NumEventsOfA() const { return next_a_ < script_.a.size() ? 1 + pair_.back->NumUndelivered() : 0; }
  std::size_t NumEventsOfB() const { return next_b_ < script_.b.size() ? 1 + pair_.there->NumUndelivered() : 0; }
  using W = TransportSet<Process>;
  struct Node {
    Fabric fabric;
    bool is_closing = false;
    bool is_quiet = false;
    bool is_closed = false;

    Node(LoopbackNetwork& network, std::size_t rank, const Script& script)
        : fabric(network.World(rank), {.num_slots = script.num_slots}) {}
  };

  LinkOptions Options() const {
    const std::size_t num_frames = script_.num_slots + Connection::num_uncredited;
    return {.num_sends = num_frames, .num_receives = num_frames, .payload_bytes = 64};
  }
  Process ReachOf(Node& node, std::size_t peer, std::size_t channel, std::uint32_t layer) const {
    return {.fabric = &node.fabric,
            .peer = peer,
            .key = {.layer = layer},
            .channel = channel,
            .num_channels = layer == 0 ? script_.num_channels : 1,
            .depth = script_.depth,
            .buffer_bytes = buffer_bytes,
            .num_frames = script_.num_frames};
  }
  // Ends are opened in an order in which every box has the number of its other half.
  std::vector<Inlet<int, policy, W>> OpenInlets() {
    std::vector<Inlet<int, policy, W>> inlets;
    for (std::size_t channel = 0; channel < script_.num_channels; ++channel)
      inlets.emplace_back(ReachOf(a_, 1, channel, 0));
    return inlets;
  }
  std::vector<Outlet<int, policy, W>> OpenOutlets() {
    std::vector<Outlet<int, policy, W>> outlets;
    for (std::size_t channel = 0; channel < script_.num_channels; ++channel)
      outlets.emplace_back(ReachOf(b_, 0, channel, 0));
    return outlets;
  }
  void Connect(Node& node, std::size_t peer, AnyLink link) {
    ProgressEngine& engine = *node.fabric.Engine();
    for (std::uint32_t i = 0; i < engine.NumOutgoing(); ++i) engine.Outgoing(i).remote_index = i;
    engine.AddConnection(peer, std::move(link), script_.num_slots);
    engine.Activate();
  }

  void DoA(char what) {
    switch (what) {
      case 'q':
        a_.fabric.Poll();
        break;
      case 'f':
        inlets_.front().TryFlush();
        break;
      case 'c':
        StepToClose(a_);
        break;
      case 'y':
        if (way_back_.TryStep() != 0) REQUIRE(way_back_.Get() <= num_back_puts_);
        break;
      default:
        Put(static_cast<std::size_t>(what - '0'));
    }
  }
  void DoB(char what) {
    switch (what) {
      case 'q':
        b_.fabric.Poll();
        break;
      case 'f':
        outlets_.front().Bound().Visit([](auto* duct) { duct->Exchange()->TryFlush(); });
        break;
      case 'c':
        StepToClose(b_);
        break;
      case 'z':
        if (way_back_inlet_.TryPut(num_back_puts_ + 1)) ++num_back_puts_;
        break;
      default:
        Step(static_cast<std::size_t>(what - '0'));
    }
  }
  void Put(std::size_t channel) {
    if (inlets_[channel].TryPut(NextOf(channel))) ++num_puts_[channel];
  }
  /// Messages are numbered, or ones that add up to their number.
  int NextOf(std::size_t channel) const { return policy.retain == Retain::accumulate ? 1 : num_puts_[channel] + 1; }
  /// The number of the newest message stepped to.
  int Got(std::size_t channel) const {
    return policy.retain == Retain::accumulate ? sums_[channel] : outlets_[channel].Get();
  }
  bool TryStep(std::size_t channel) {
    const bool has_stepped = outlets_[channel].TryStep() != 0;
    if constexpr (policy.retain == Retain::accumulate) {
      if (!has_stepped) REQUIRE(outlets_[channel].Get() == 0);
      sums_[channel] += outlets_[channel].Get();
    }
    return has_stepped;
  }
  void Step(std::size_t channel) {
    const int before = Got(channel);
    if (!TryStep(channel)) return;
    const int value = Got(channel);
    if constexpr (policy.retain == Retain::every) REQUIRE(value == before + 1);
    REQUIRE(value > before);
    REQUIRE(value <= num_puts_[channel]);
  }
  void CheckWindow() {
    if constexpr (policy.retain == Retain::every) {
      for (std::size_t channel = 0; channel < script_.num_channels; ++channel)
        REQUIRE(num_puts_[channel] - outlets_[channel].Get() <= static_cast<int>(script_.depth));
    }
  }

  /// With everything arriving and both polling, everything gets through, and room comes back.
  void Settle() {
    pair_.there->OpenGate();
    pair_.back->OpenGate();
    for (int i = 0; i < 40; ++i) {
      for (auto& inlet : inlets_) inlet.TryFlush();
      a_.fabric.Poll();
      for (std::size_t channel = 0; channel < script_.num_channels; ++channel) Step(channel);
      outlets_.front().Bound().Visit([](auto* duct) { duct->Exchange()->TryFlush(); });
      b_.fabric.Poll();
      way_back_.TryStep();
    }
    for (std::size_t channel = 0; channel < script_.num_channels; ++channel)
      REQUIRE(Got(channel) == num_puts_[channel]);
    REQUIRE(way_back_.Get() == num_back_puts_);
    for (std::size_t channel = 0; channel < script_.num_channels; ++channel) {
      REQUIRE(inlets_[channel].TryFlush());
      REQUIRE(inlets_[channel].TryPut(NextOf(channel)));
      ++num_puts_[channel];
    }
  }

  void StepToClose(Node& node) {
    ProgressEngine& engine = *node.fabric.Engine();
    node.is_closing = true;
    engine.Shut();
    if (!node.is_quiet) {
      engine.Process().Exclusively([&] { node.is_quiet = TryFinishHalves(node) && engine.TrySayGoodbye(); });
    }
    if (!node.is_quiet) engine.Poll();
    if (node.is_quiet && !node.is_closed) node.is_closed = engine.TryCloseLinks();
  }
  bool TryFinishHalves(Node& node) {
    const auto finish = [](auto* duct) { return duct->Exchange()->TryFinish(); };
    const bool is_a = &node == &a_;
    const bool is_way_there = is_a ? inlets_.front().Bound().Visit(finish) : outlets_.front().Bound().Visit(finish);
    const bool is_way_back = is_a ? way_back_.Bound().Visit(finish) : way_back_inlet_.Bound().Visit(finish);
    return is_way_there && is_way_back;
  }
  void Close() {
    pair_.there->OpenGate();
    pair_.back->OpenGate();
    for (int i = 0; i < 40 && !(a_.is_closed && b_.is_closed); ++i) {
      StepToClose(a_);
      StepToClose(b_);
    }
    REQUIRE(a_.is_closed);
    REQUIRE(b_.is_closed);
    TryFinishHalves(a_);
    TryFinishHalves(b_);
  }
  void CheckAccounts() {
    for (std::size_t channel = 0; channel < script_.num_channels; ++channel) {
      Tally tally;
      tally += inlets_[channel].Tally();
      outlets_[channel].CountUnread(outlets_[channel].Bound().Visit([](auto* duct) { return duct->NumUnread(); }));
      tally += outlets_[channel].Tally();
      REQUIRE(tally.put.Accepted() == static_cast<std::uint64_t>(num_puts_[channel]));
      REQUIRE(tally.Balanced());
      // What was not read can still be, the newest at last.
      while (TryStep(channel)) {
      }
      REQUIRE(Got(channel) == num_puts_[channel]);
    }
    while (way_back_.TryStep() != 0) {
    }
    REQUIRE(way_back_.Get() == num_back_puts_);
  }

  Script script_;
  LoopbackNetwork network_{2};
  LoopbackPair pair_;
  Node a_{network_, 0, script_};
  Node b_{network_, 1, script_};
  std::vector<Inlet<int, policy, W>> inlets_ = OpenInlets();
  std::vector<Outlet<int, policy, W>> outlets_ = OpenOutlets();
  Outlet<int, latest, W> way_back_{ReachOf(a_, 1, 0, 1)};
  Inlet<int, latest, W> way_back_inlet_{ReachOf(b_, 0, 0, 1)};
  std::vector<int> num_puts_ = std::vector<int>(2);
  std::vector<int> sums_ = std::vector<int>(2);
  int num_back_puts_ = 0;
  std::size_t next_a_ = 0;
  std::size_t next_b_ = 0;
};

/// Whether a sanitizer looks on, per commit: some orders are then enough, because it is not the orders that it looks at.
const bool is_cut_short = is_sanitized && !IsNightly();

template <Policy policy>
void TryAllOrders(const Script& script) {
  CAPTURE(script.a, script.b, script.num_slots, script.depth, script.num_channels);
  const std::uint64_t max_orders = is_cut_short ? 2'000 : 50'000;
  const std::uint64_t num_orders = ForEachOrder([&] { return Scenario<policy>(script); }, max_orders);
  if (!is_cut_short) CHECK(num_orders <= max_orders);
  CHECK(num_orders > 100);
}

/// Windows to try, of up to so many slots.
std::vector<std::size_t> NumsOfSlots(std::size_t most) {
  if (is_cut_short) return {2};
  std::vector<std::size_t> nums(most);
  std::iota(nums.begin(), nums.end(), std::size_t{1});
  return nums;
}

}  // namespace

TEST_CASE("Every message arrives once and in order, whatever the order of frames") {
  for (const std::size_t num_slots : NumsOfSlots(3)) {
    TryAllOrders<every>({.a = "000q", .b = "0000", .num_slots = num_slots, .depth = 1});
    TryAllOrders<every>({.a = "00000", .b = "0q00", .num_slots = num_slots, .depth = 2});
    TryAllOrders<every>({.a = "00y0", .b = "0zz0", .num_slots = num_slots, .depth = 3});
    TryAllOrders<every_aggregated>({.a = "00f00f", .b = "0000", .num_slots = num_slots, .depth = 3, .num_frames = 1});
    TryAllOrders<every_aggregated>({.a = "01f01f", .b = "1100", .num_slots = num_slots, .depth = 2, .num_channels = 2});
  }
}

TEST_CASE("The newest message arrives in the end, whatever the order of frames") {
  for (const std::size_t num_slots : NumsOfSlots(3)) {
    TryAllOrders<latest>({.a = "000q0", .b = "0000", .num_slots = num_slots});
    TryAllOrders<latest>({.a = "00y0", .b = "0zz0", .num_slots = num_slots});
    TryAllOrders<latest_aggregated>({.a = "0f00fq", .b = "000", .num_slots = num_slots, .num_frames = 1});
    TryAllOrders<latest_aggregated>({.a = "01f01f", .b = "011", .num_slots = num_slots, .num_channels = 2});
  }
}

TEST_CASE("Every amount arrives once, whatever the order of frames") {
  for (const std::size_t num_slots : NumsOfSlots(3)) {
    TryAllOrders<accumulate>({.a = "000q0", .b = "0000", .num_slots = num_slots, .depth = 1});
    TryAllOrders<accumulate>({.a = "00y0", .b = "0zz0", .num_slots = num_slots, .depth = 2});
    TryAllOrders<accumulate_pooled>({.a = "0101", .b = "01q0", .num_slots = num_slots, .depth = 1, .num_channels = 2});
    TryAllOrders<accumulate_pooled>({.a = "0f00f1", .b = "0011", .num_slots = num_slots, .depth = 2, .num_channels = 2});
  }
}

TEST_CASE("Pooled messages arrive once and in order, whatever the order of frames") {
  for (const std::size_t num_slots : NumsOfSlots(2)) {
    TryAllOrders<every_pooled>({.a = "01010", .b = "01q0", .num_slots = num_slots, .depth = 1, .num_channels = 2});
    TryAllOrders<every_pooled>({.a = "0f01f0", .b = "0001", .num_slots = num_slots, .depth = 2, .num_channels = 2});
    // Nobody steps channel 1.
    TryAllOrders<every_pooled>({.a = "010101", .b = "000", .num_slots = num_slots, .depth = 1, .num_channels = 2});
    TryAllOrders<latest_pooled>({.a = "0101", .b = "01q0", .num_slots = num_slots, .num_channels = 2});
    TryAllOrders<latest_pooled>({.a = "0f00f1", .b = "0011", .num_slots = num_slots, .num_channels = 2});
  }
}

TEST_CASE("Both sides close whenever they do and frames arrive, and lose nothing") {
  for (const std::size_t num_slots : NumsOfSlots(3)) {
    TryAllOrders<every>({.a = "00cc", .b = "0ccc", .num_slots = num_slots, .depth = 1});
    TryAllOrders<every>({.a = "000cc", .b = "ccc", .num_slots = num_slots, .depth = 2});
    TryAllOrders<latest>({.a = "00cc", .b = "zccc", .num_slots = num_slots});
    TryAllOrders<every_pooled>({.a = "00f0c", .b = "0cc", .num_slots = num_slots, .depth = 2, .num_channels = 2});
    TryAllOrders<latest_pooled>({.a = "010c", .b = "zcc", .num_slots = num_slots, .num_channels = 2});
    TryAllOrders<every_aggregated>({.a = "00f0c", .b = "0cc", .num_slots = num_slots, .num_frames = 1});
    TryAllOrders<latest_aggregated>({.a = "01f0c", .b = "0cc", .num_slots = num_slots, .num_channels = 2});
    TryAllOrders<accumulate>({.a = "000cc", .b = "0ccc", .num_slots = num_slots, .depth = 1});
    TryAllOrders<accumulate_pooled>({.a = "00f0c", .b = "0cc", .num_slots = num_slots, .depth = 2, .num_channels = 2});
  }
}
