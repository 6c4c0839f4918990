// Ten million messages between two processes, by every exchange; one million in builds with assertions. All are accounted for, none
// is out of order, and sums are exact. They are put faster than they can leave, so some are refused. At night up to a hundred times
// as many.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include <mpi.h>

#include <uit/codec/span_codec.hpp>
#include <uit/mpi/await.hpp>
#include <uit/mpi/error.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/pause.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/goal.hpp"
#include "tests/uit/core/support/sanitized.hpp"
#include "tests/uit/exchange/support/policies.hpp"
#include "tests/uit/mpi/support/ring.hpp"

using namespace uit;
using namespace uit::testing;

namespace {

/// A single number.
struct Single {
  using Message = std::uint64_t;
  static Message Number(std::uint64_t number) { return number; }
  static std::uint64_t NumberOf(const Message& message) { return message; }
  static bool IsWhole(const Message&) { return true; }
};

/// A number, one to three times.
struct Row {
  using Message = std::vector<std::uint64_t>;
  static Message Number(std::uint64_t number) { return Message(1 + number % 3, number); }
  static std::uint64_t NumberOf(const Message& message) { return message.empty() ? 0 : message.front(); }
  static bool IsWhole(const Message& message) {
    if (message.size() != 1 + NumberOf(message) % 3) return false;
    return message.back() == message.front();
  }
};

/// An amount from 1 to 1024; messages that wait are summed.
struct Amount {
  using Message = std::uint64_t;
  static Message Number(std::uint64_t number) { return number % 1024 + 1; }
};

template <typename Carried, Policy p>
struct Subject {
  using Kind = Carried;
  static constexpr Policy policy = p;
  static constexpr std::size_t num_channels = p.consolidate == Consolidate::none ? 1 : 4;
};

/// Puts of each exchange, at least. One process communicates only with itself, which shows little, so it makes fewer; so do
/// slow builds.
std::uint64_t NumRequired(const World& world) {
  constexpr bool is_checked = UIT_ASSERT_LEVEL > 1;  // and the part that is compiled for all tests is not optimised
  const std::uint64_t num_puts = is_sanitized ? 100'000 : is_checked ? 1'000'000 : 10'000'000;
  return num_puts / (world.Size() == 1 ? 10 : 1) * PerCommitOrNight(1U, 10U);
}
/// Accepted messages of these, at least. (Only Retain::every refuses any.)
std::uint64_t NumAccepted(std::uint64_t num_attempted) { return num_attempted / 10; }

/// The results of all exchanges.
struct Shown {
  std::size_t num_exchanges = 0;
  std::uint64_t least_attempted = std::numeric_limits<std::uint64_t>::max();  // by each exchange, at least
  std::uint64_t least_accepted = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t num_attempted = 0;  // by all exchanges
  std::uint64_t num_accepted = 0;
  double slowest = std::numeric_limits<double>::max();  // million attempts per second
  double fastest = 0;
} shown;

/// Some channels to the next process, and as many from the previous.
template <typename S>
class Ends {
 public:
  using Kind = typename S::Kind;
  using T = typename Kind::Message;
  using W = TransportSet<Process>;
  static constexpr std::size_t num_channels = S::num_channels;

  Ends(Fabric& fabric, const RingPlace& place) : sent(num_channels, 0), received(num_channels, 0) {
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
  /// Puts some messages to each channel. Returns whether any was accepted.
  bool PutSome() {
    bool any = false;
    for (std::size_t channel = 0; channel < num_channels; ++channel) {
      int num_refused = 0;
      for (int i = 0; i < 256 && num_refused < 4; ++i) {
        const T message = Kind::Number(is_sum ? static_cast<std::uint64_t>(i) : sent[channel] + 1);
        if (!inlets[channel].TryPut(message)) {
          ++num_refused;
          continue;
        }
        if constexpr (is_sum) sent[channel] += message;
        else ++sent[channel];
        any = true;
      }
    }
    return any;
  }
  /// Steps through what has come, and checks it. Returns whether anything had come.
  bool ReadSome() {
    bool any = false;
    for (std::size_t channel = 0; channel < num_channels; ++channel) {
      std::size_t count = 0;
      for (int i = 0; i < 256 && (count = outlets[channel].TryStep(i % 4 == 3 ? 2 : 1)) != 0; ++i) {
        Heed(channel, outlets[channel].Get(), count);
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
  std::vector<std::uint64_t> sent;      ///< by channel: number of the last accepted message; of amounts, the sum
  std::vector<std::uint64_t> received;  ///< by channel: the same for what has come
  bool is_right = true;

 private:
  static constexpr bool is_sum = S::policy.retain == Retain::accumulate;

  void Heed(std::size_t channel, const T& message, std::size_t count) {
    if constexpr (is_sum) {
      received[channel] += message;
    } else {
      const std::uint64_t number = Kind::NumberOf(message);
      const std::uint64_t newest = received[channel];
      const bool follows = S::policy.retain == Retain::every ? number == newest + count : number > newest;
      is_right = is_right && follows && Kind::IsWhole(message);
      received[channel] = number;
    }
  }
};

/// Returns what the previous process has sent. Collective.
std::vector<std::uint64_t> SentByPrevious(const World& world, const RingPlace& place, const std::vector<std::uint64_t>& ours) {
  BytesByRank outgoing;
  for (const std::uint64_t number : ours) {
    const auto bytes = BytesOf(number);
    outgoing[place.next].insert(outgoing[place.next].end(), bytes.begin(), bytes.end());
  }
  const Bytes received = world.ExchangeSparsely(std::move(outgoing))[place.previous];
  std::vector<std::uint64_t> theirs;
  for (std::size_t at = 0; at < received.size(); at += sizeof(std::uint64_t))
    theirs.push_back(LoadBytes<std::uint64_t>(ByteView(received).subspan(at)));
  return theirs;
}

using Subjects = std::tuple<Subject<Single, every_aggregated>, Subject<Single, latest_aggregated>,
                            Subject<Row, every_aggregated>, Subject<Row, latest_aggregated>, Subject<Single, every_pooled>,
                            Subject<Single, latest_pooled>, Subject<Single, every>, Subject<Single, latest>,
                            Subject<Row, every>, Subject<Row, latest>, Subject<Amount, accumulate_pooled>,
                            Subject<Amount, accumulate>>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("Millions of messages arrive in order and whole, and the account is exact", "", Subjects) {
  const World world = TheWorld();
  const RingPlace place{world};
  Fabric fabric{world};
  Ends<TestType> ends{fabric, place};
  fabric.Connect();
  const TimePoint start = Now();
  const std::uint64_t num_required = NumRequired(world);
  const std::uint64_t num_wanted = num_required * PerCommitOrNight(1U, 10U);
  const Deadline patience = After(std::chrono::minutes{3});  // shared by the remaining exchanges
  // A process that has finished continues until all have, because others need it to read.
  MPI_Request meeting = MPI_REQUEST_NULL;
  Backoff rest;
  for (bool has_done = false; !has_done || !mpi::IsComplete(meeting);) {
    const bool has_put = ends.PutSome();
    // The peer may need the core; without it, all puts would be refused.
    if (ends.ReadSome() || has_put) rest.Reset();
    else rest.Rest();
    const uit::PutTally puts = ends.Puts();
    if (has_done || puts.attempted < num_required || puts.Accepted() < NumAccepted(num_required)) continue;
    if (puts.attempted < num_wanted && Now() < patience) continue;
    has_done = true;
    mpi::Check(MPI_Ibarrier(MPI_COMM_WORLD, &meeting), "MPI_Ibarrier");
  }
  const std::chrono::duration<double> elapsed = Now() - start;
  CHECK(fabric.Close());
  while (ends.ReadSome()) {
  }
  const bool have_come = ends.received == SentByPrevious(world, place, ends.sent);
  CHECK(have_come);
  CHECK(ends.is_right);
  const Tally tally = JoinTallies(world, place, ends.Puts(), ends.Gets());
  const auto [attempted, accepted] = std::pair{tally.put.attempted, tally.put.Accepted()};
  const double share = static_cast<double>(accepted) / static_cast<double>(attempted);
  CHECK(attempted >= num_required);
  CHECK(accepted >= (TestType::policy.retain == Retain::every ? NumAccepted(num_required) : attempted));
  CHECK(tally.Balanced());
  if (!have_come || !ends.is_right || !tally.Balanced()) return;
  const double rate = static_cast<double>(attempted) / elapsed.count() / 1e6;
  ++shown.num_exchanges;
  shown.num_attempted += attempted;
  shown.num_accepted += accepted;
  shown.least_attempted = std::min(shown.least_attempted, attempted);
  shown.least_accepted = std::min(shown.least_accepted, accepted);
  shown.slowest = std::min(shown.slowest, rate);
  shown.fastest = std::max(shown.fastest, rate);
  if (world.IsRoot())
    std::printf("%.1f million attempted, %.1f %% accepted, %.1f million/s\n", static_cast<double>(attempted) / 1e6,
                100 * share, rate);
}

TEST_CASE("So they do by every exchange") {
  CHECK(shown.num_exchanges == std::tuple_size_v<Subjects>);
  const World world = TheWorld();
  if (!world.IsRoot() || world.Size() == 1) return;
  const auto millions = [](std::uint64_t count) { return static_cast<double>(count) / 1e6; };
  std::array<char, 320> figure{};
  std::snprintf(
      figure.data(), figure.size(),
      "by each of %zu exchanges at least %.1f million messages attempted and %.1f accepted, %.0f and %.0f million in all: none "
      "lost, repeated, out of order or torn, sums exact; %.1f to %.1f million/s",
      shown.num_exchanges, millions(shown.least_attempted), millions(shown.least_accepted), millions(shown.num_attempted),
      millions(shown.num_accepted), shown.slowest, shown.fastest);
  PrintGoal("R1", figure.data());
}
