// Ten million messages between two processes, by every exchange: all are accounted for, and none is out of order.
//
// Exchanges that send a frame for each message make do with fewer, unless UIT_TEST_WHOLE_VOLUME=1.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <tuple>
#include <vector>

#include <uit/codec/span_codec.hpp>
#include <uit/support/clock.hpp>

#include "tests/support/catch.hpp"
#include "tests/uit/core/support/sanitized.hpp"
#include "tests/uit/mpi/support/ring.hpp"

using namespace uit;
using namespace uit::testing;

namespace {

/// A number by itself.
struct Single {
  using Message = std::uint64_t;
  static Message Number(std::uint64_t number) { return number; }
  static std::uint64_t NumberOf(const Message& message) { return message; }
  static bool IsWhole(const Message&) { return true; }
};

/// A number, repeated up to three times.
struct Row {
  using Message = std::vector<std::uint64_t>;
  static Message Number(std::uint64_t number) { return Message(1 + number % 3, number); }
  static std::uint64_t NumberOf(const Message& message) { return message.empty() ? 0 : message.front(); }
  static bool IsWhole(const Message& message) {
    if (message.size() != 1 + NumberOf(message) % 3) return false;
    return message.back() == message.front();
  }
};

template <typename Carried, Policy p, std::uint64_t divisor>
struct Subject {
  using Kind = Carried;
  static constexpr Policy policy = p;
  static std::uint64_t NumMessages() {
    const bool is_whole = std::getenv("UIT_TEST_WHOLE_VOLUME") != nullptr;
    return 10'000'000 / (is_whole ? 1 : divisor) / (is_sanitized ? 20 : 1);
  }
};

constexpr Policy every{};
constexpr Policy latest{.retain = Retain::latest};
constexpr Policy every_pooled{.consolidate = Consolidate::pooled};
constexpr Policy latest_pooled{.retain = Retain::latest, .consolidate = Consolidate::pooled};
constexpr Policy every_aggregated{.consolidate = Consolidate::aggregated};
constexpr Policy latest_aggregated{.retain = Retain::latest, .consolidate = Consolidate::aggregated};

/// Some channels to the next process, and as many from the previous.
template <typename S>
class Ends {
 public:
  using Kind = typename S::Kind;
  using T = typename Kind::Message;
  using W = Wiring<Process>;
  static constexpr std::size_t num_channels = S::policy.consolidate == Consolidate::none ? 1 : 4;
  const std::uint64_t num_per_channel = S::NumMessages() / num_channels;

  Ends(Fabric& fabric, const RingPlace& place) : next_number(num_channels, 1), newest(num_channels, 0) {
    for (std::size_t channel = 0; channel < num_channels; ++channel) {
      const auto reach = [&](std::size_t peer, std::size_t source, std::size_t destination) {
        return Process{.fabric = &fabric,
                       .peer = peer,
                       .key = {.source = static_cast<std::uint32_t>(source),
                               .destination = static_cast<std::uint32_t>(destination)},
                       .channel = channel,
                       .num_channels = num_channels,
                       .depth = is_aggregated<T, S::policy> && num_channels > 1 ? 65'536U : 1024U,
                       .max_message_bytes = 1024};
      };
      inlets.emplace_back(reach(place.next, place.rank, place.next));
      outlets.emplace_back(reach(place.previous, place.previous, place.rank));
    }
  }
  /// Tries to put some messages to each channel, and sends them when there are no more to come. Returns whether all
  /// have left.
  bool TryPutSome() {
    bool all = true;
    for (std::size_t channel = 0; channel < num_channels; ++channel) {
      std::uint64_t& next = next_number[channel];
      for (int i = 0; i < 256 && next <= num_per_channel && inlets[channel].TryPut(Kind::Number(next)); ++i) ++next;
      all = all && next > num_per_channel;
    }
    return all && inlets[0].TryFlush();
  }
  /// Whether the last message of each channel has been read.
  bool IsDone() const { return std::ranges::all_of(newest, [this](auto number) { return number == num_per_channel; }); }
  /// Steps through what has come, and looks at it. Returns whether there was anything.
  bool ReadSome() {
    bool any = false;
    for (std::size_t channel = 0; channel < num_channels; ++channel) {
      std::size_t count = 0;
      for (int i = 0; i < 256 && (count = outlets[channel].TryStep(i % 4 == 3 ? 2 : 1)) != 0; ++i) {
        const T& message = outlets[channel].Get();
        const std::uint64_t number = Kind::NumberOf(message);
        const bool follows =
            S::policy.retain == Retain::every ? number == newest[channel] + count : number > newest[channel];
        is_right = is_right && follows && Kind::IsWhole(message);
        newest[channel] = number;
        any = true;
      }
    }
    return any;
  }
  uit::PutTally Puts() const {
    uit::PutTally sum;
    for (const auto& inlet : inlets) sum += inlet.Tally();
    return sum;
  }
  uit::GetTally Gets() const {
    uit::GetTally sum;
    for (const auto& outlet : outlets) sum += outlet.Tally();
    return sum;
  }

  std::vector<Inlet<T, S::policy, W>> inlets;
  std::vector<Outlet<T, S::policy, W>> outlets;
  std::vector<std::uint64_t> next_number;
  std::vector<std::uint64_t> newest;
  bool is_right = true;
};

using Subjects = std::tuple<Subject<Single, every_aggregated, 1>, Subject<Single, latest_aggregated, 1>,
                            Subject<Row, every_aggregated, 1>, Subject<Row, latest_aggregated, 1>,
                            Subject<Single, every_pooled, 20>, Subject<Single, latest_pooled, 5>,
                            Subject<Single, every, 20>, Subject<Single, latest, 20>, Subject<Row, every, 20>,
                            Subject<Row, latest, 20>>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("Millions of messages arrive in order, whole, and accounted for to the last", "", Subjects) {
  const World world = TheWorld();
  const RingPlace place{world};
  Fabric fabric{world};
  Ends<TestType> ends{fabric, place};
  fabric.Connect();
  const TimePoint start = Now();
  for (bool has_put_all = false; !has_put_all || !ends.IsDone();) {
    has_put_all = ends.TryPutSome();
    if (!ends.ReadSome()) std::this_thread::yield();  // the peer may want the core
  }
  const std::chrono::duration<double> elapsed = Now() - start;
  CHECK(fabric.Close());
  CHECK(ends.is_right);
  const Tally tally = JoinTallies(world, place, ends.Puts(), ends.Gets());
  CHECK(tally.put.Accepted() == TestType::NumMessages());
  CHECK(tally.Balanced());
  if (world.IsRoot())
    WARN(static_cast<double>(tally.put.Accepted()) / elapsed.count() / 1e6 << " million messages a second");
}
