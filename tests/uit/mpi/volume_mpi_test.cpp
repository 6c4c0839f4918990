// Ten million messages between two processes, by every exchange: all are accounted for, and none is out of order. Where
// they are put faster than they can leave, so many are put, and most of them refused. At night a hundred times as many.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <uit/codec/span_codec.hpp>
#include <uit/support/clock.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/goal.hpp"
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

template <typename Carried, Policy p>
struct Subject {
  using Kind = Carried;
  static constexpr Policy policy = p;
  static constexpr std::size_t num_channels = p.consolidate == Consolidate::none ? 1 : 4;
};

/// To put by each exchange. One process hears itself alone, which shows little; and what runs slowly makes do with less.
std::uint64_t NumMessages(const World& world) {
  const auto most = PerCommitOrNight<std::uint64_t>(10'000'000, 1'000'000'000);
  return most / (world.Size() == 1 ? 10 : 1) / (is_sanitized || !is_optimized ? 100 : 1);
}
constexpr std::uint64_t accepted_share = 100'000;  // of that many one is accepted, at least

/// What all exchanges have shown.
struct Shown {
  std::size_t num_exchanges = 0;
  std::uint64_t num_attempted = std::numeric_limits<std::uint64_t>::max();  // by each, at least
  std::uint64_t num_accepted = 0;                                           // by all
  double slowest = std::numeric_limits<double>::max();                      // million attempts a second
  double fastest = 0;
} shown;

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
  static constexpr std::size_t num_channels = S::num_channels;

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
  /// Puts some messages to each channel, whether it takes them or not.
  void PutSome() {
    for (std::size_t channel = 0; channel < num_channels; ++channel) {
      int num_refused = 0;
      for (int i = 0; i < 256 && num_refused < 32; ++i) {
        if (inlets[channel].TryPut(Kind::Number(next_number[channel]))) ++next_number[channel];
        else ++num_refused;
      }
    }
  }
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
  /// Whether the newest message of each channel is the last of those that its sender has put.
  bool HaveCome(const std::vector<std::uint64_t>& next_number_of_sender) const {
    return std::ranges::equal(newest, next_number_of_sender, {}, [](std::uint64_t number) { return number + 1; });
  }

  std::vector<std::uint64_t> next_number;
  std::vector<std::uint64_t> newest;
  bool is_right = true;
};

/// What the previous process would put next. Collective.
std::vector<std::uint64_t> NumbersOfPrevious(const World& world, const RingPlace& place, const std::vector<std::uint64_t>& ours) {
  std::vector<Bytes> outgoing(world.Size());
  for (const std::uint64_t number : ours) {
    const auto bytes = BytesOf(number);
    outgoing[place.next].insert(outgoing[place.next].end(), bytes.begin(), bytes.end());
  }
  const Bytes received = world.AllToAll(std::move(outgoing))[place.previous];
  std::vector<std::uint64_t> theirs;
  for (std::size_t at = 0; at < received.size(); at += sizeof(std::uint64_t))
    theirs.push_back(LoadBytes<std::uint64_t>(ByteView(received).subspan(at)));
  return theirs;
}

using Subjects = std::tuple<Subject<Single, every_aggregated>, Subject<Single, latest_aggregated>,
                            Subject<Row, every_aggregated>, Subject<Row, latest_aggregated>, Subject<Single, every_pooled>,
                            Subject<Single, latest_pooled>, Subject<Single, every>, Subject<Single, latest>,
                            Subject<Row, every>, Subject<Row, latest>>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("Millions of messages arrive in order, whole, and accounted for to the last", "", Subjects) {
  const World world = TheWorld();
  const RingPlace place{world};
  const std::uint64_t num_messages = NumMessages(world);
  Fabric fabric{world};
  Ends<TestType> ends{fabric, place};
  fabric.Connect();
  const TimePoint start = Now();
  // By attempts alone: who waited for more to be accepted might wait for a peer that has done its part and reads no more.
  const Deadline patience = After(PerCommitOrNight(std::chrono::seconds{30}, std::chrono::seconds{600}));
  for (PutTally puts; puts.attempted < num_messages && (puts.attempted < num_messages / 10 || Now() < patience); puts = ends.Puts()) {
    ends.PutSome();
    if (!ends.ReadSome()) std::this_thread::yield();  // the peer may want the core
  }
  const std::chrono::duration<double> elapsed = Now() - start;
  CHECK(fabric.Close());
  while (ends.ReadSome()) {
  }
  const bool have_come = ends.HaveCome(NumbersOfPrevious(world, place, ends.next_number));
  CHECK(have_come);
  CHECK(ends.is_right);
  const Tally tally = JoinTallies(world, place, ends.Puts(), ends.Gets());
  CHECK(tally.put.attempted >= num_messages / 10);  // where others want the cores; the goal says how many they were
  CHECK(tally.put.Accepted() >= num_messages / accepted_share);
  CHECK(tally.Balanced());
  if (!have_come || !ends.is_right || !tally.Balanced()) return;
  const double rate = static_cast<double>(tally.put.attempted) / elapsed.count() / 1e6;
  ++shown.num_exchanges;
  shown.num_attempted = std::min(shown.num_attempted, tally.put.attempted);
  shown.num_accepted += tally.put.Accepted();
  shown.slowest = std::min(shown.slowest, rate);
  shown.fastest = std::max(shown.fastest, rate);
}

TEST_CASE("So they do by every exchange") {
  CHECK(shown.num_exchanges == std::tuple_size_v<Subjects>);
  if (!TheWorld().IsRoot()) return;
  std::array<char, 240> figure{};
  std::snprintf(figure.data(), figure.size(),
                "%llu messages by each of %zu exchanges, %llu accepted in all: none lost, repeated, out of order or torn; %.1f to %.1f million/s",
                static_cast<unsigned long long>(shown.num_attempted), shown.num_exchanges,
                static_cast<unsigned long long>(shown.num_accepted), shown.slowest, shown.fastest);
  PrintGoal("R1", figure.data());
}
