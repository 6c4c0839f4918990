// What does a message of 8 B to 4 MiB cost between two processes: put and copied out, or written and read in place, or by MPI?

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>

#include <uit/exchange/fabric.hpp>
#include <uit/inlet.hpp>
#include <uit/link/world.hpp>
#include <uit/outlet.hpp>
#include <uit/transport/process.hpp>
#include <uit/transport/transport_set.hpp>

#include "microbenchmarks/support/isend_ring.hpp"
#include "microbenchmarks/support/message.hpp"
#include "microbenchmarks/support/program.hpp"
#include "microbenchmarks/support/rank_main.hpp"
#include "microbenchmarks/support/rank_pair.hpp"
#include "microbenchmarks/support/ranks.hpp"

namespace {

using bench::Numbers;

/// Messages that may wait: with more of the largest ones, their ring would be too large to be lent (max_lent_box_bytes).
constexpr std::size_t DepthFor(std::size_t num_bytes) { return num_bytes > std::size_t{1} << 20U ? 2 : 4; }

using bench::Check;
using bench::Mark;

/// A conduit each way, for messages of one size.
class Conduits {
 public:
  /// Collective.
  Conduits(const uit::World& world, std::size_t num_bytes, bool is_lent, bool shares_memory)
      : fabric_{world, {.shares_memory = shares_memory}}, is_lent_{is_lent}, message_(num_bytes / sizeof(std::uint64_t)) {
    const std::size_t peer = 1 - world.Rank();
    const auto reach = [&](std::size_t source) {
      return uit::Process{.fabric = &fabric_,
                          .peer = peer,
                          .key = {.source = static_cast<std::uint32_t>(source)},
                          .depth = DepthFor(num_bytes),
                          .max_message_bytes = std::max<std::size_t>(num_bytes, 65'536)};
    };
    inlet_ = Inlet{reach(world.Rank())};
    outlet_ = Outlet{reach(peer)};
    fabric_.Connect();
  }

  bool TrySend(std::uint32_t number) {
    if (!is_lent_) {
      Mark(message_, number);
      return inlet_.TryPut(message_);
    }
    const auto room = inlet_.TryLoan(message_.size());
    if (!room) return false;
    Mark(*room, number);
    return inlet_.Publish(*room);
  }
  bool TryTake(std::uint64_t& sum) {
    if (is_lent_) return outlet_.TryRead([&](std::span<const std::uint64_t> words) { sum += Check(words); });
    if (outlet_.TryStep() == 0) return false;
    sum += Check(outlet_.Get());
    return true;
  }
  bool TryFlush() { return inlet_.TryFlush(); }

 private:
  using Inlet = uit::Inlet<Numbers, uit::Policy{}, uit::TransportSet<uit::Process>>;
  using Outlet = uit::Outlet<Numbers, uit::Policy{}, uit::TransportSet<uit::Process>>;

  uit::Fabric fabric_;
  Inlet inlet_;
  Outlet outlet_;
  bool is_lent_;
  Numbers message_;
};

/// MPI_Isend and MPI_Irecv with as many buffers: written and read in place as well.
class ByMpi {
 public:
  ByMpi(int peer, std::size_t num_bytes)
      : num_words_{num_bytes / sizeof(std::uint64_t)}, ring_{peer, num_bytes, DepthFor(num_bytes)} {}

  bool TrySend(std::uint32_t number) {
    std::byte* const room = ring_.Room();
    if (room == nullptr) return false;
    Mark(std::span{reinterpret_cast<std::uint64_t*>(room), num_words_}, number);
    ring_.Send(num_words_ * sizeof(std::uint64_t));
    return true;
  }
  bool TryTake(std::uint64_t& sum) {
    const std::byte* const arrived = ring_.Arrived();
    if (arrived == nullptr) return false;
    sum += Check(std::span{reinterpret_cast<const std::uint64_t*>(arrived), num_words_});
    ring_.Release();
    return true;
  }
  bool TryFlush() { return true; }

 private:
  std::size_t num_words_;
  bench::hand::IsendRing ring_;
};

/// MPI_Send and MPI_Recv, half a round trip.
double SendReceiveTime(const bench::Ranks& ranks, std::size_t num_bytes, std::uint64_t count) {
  Numbers message(num_bytes / sizeof(std::uint64_t));
  const auto size = static_cast<int>(num_bytes);
  std::uint64_t sum = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const uit::TimePoint start = uit::Now();
  for (std::uint64_t i = 1; i <= 2 * count; ++i) {
    if (i % 2 == static_cast<std::uint64_t>(1 - ranks.Rank())) {
      Mark(message, static_cast<std::uint32_t>((i + 1) / 2));
      MPI_Send(message.data(), size, MPI_BYTE, 1 - ranks.Rank(), 0, MPI_COMM_WORLD);
    } else {
      MPI_Recv(message.data(), size, MPI_BYTE, 1 - ranks.Rank(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      sum += Check(message);
    }
  }
  const double time = bench::Span(start, uit::Now());
  if (sum != count * (count + 1)) std::abort();
  return time / static_cast<double>(2 * count);
}

std::string SizeText(std::size_t bytes) {
  if (bytes >= std::size_t{1} << 20U) return std::to_string(bytes >> 20U) + " MiB";
  return bytes >= 1024 ? std::to_string(bytes >> 10U) + " KiB" : std::to_string(bytes) + " B";
}

void MeasureSize(bench::Program& program, bench::Ranks& ranks, const uit::World& world, std::size_t num_bytes) {
  const int peer = 1 - ranks.Rank();
  const auto lent = std::make_shared<Conduits>(world, num_bytes, true, true);
  const auto put = std::make_shared<Conduits>(world, num_bytes, false, true);
  const auto over_mpi = std::make_shared<Conduits>(world, num_bytes, false, false);
  const auto by_mpi = std::make_shared<ByMpi>(peer, num_bytes);
  for (const bool is_stream : {false, true}) {
    const std::string kind = is_stream ? "stream" : "half round trip";
    const std::string name = "large messages, " + kind + ", " + SizeText(num_bytes);
    bench::Contest contest{name, bench::Unit::nanoseconds};
    const auto add = [&](const std::string& line, auto side) {
      contest.Add(line, [&ranks, side, is_stream](const bench::Load& load) {
        return is_stream ? bench::StreamTime(ranks, *side, load.count) : bench::HalfRoundTripTime(ranks, *side, load.count);
      });
    };
    add("loan, read in place", lent);
    add("put, get", put);
    add("put, get, over MPI", over_mpi);
    add("Isend ring", by_mpi);
    std::vector<std::string> peers{"Isend ring"};
    if (!is_stream) {
      peers.emplace_back("MPI_Send, MPI_Recv");
      contest.Add(peers.back(),
                  [&ranks, num_bytes](const bench::Load& load) { return SendReceiveTime(ranks, num_bytes, load.count); });
    }
    const double factor = num_bytes >= std::size_t{1} << 20U ? 1 / 1.2 : 1.0;
    contest.Say({.name = name + ": to MPI", .ours = "loan, read in place", .against = peers, .at_most = factor});
    program.Run(contest, ranks);
  }
}

void Measure(bench::Program& program, bench::Ranks& ranks, const uit::World& world) {
  for (const std::size_t num_bytes :
       {8U, 1U << 10U, 4U << 10U, 8U << 10U, 16U << 10U, 64U << 10U, 256U << 10U, 1U << 20U, 4U << 20U})
    MeasureSize(program, ranks, world, num_bytes);
}

}  // namespace

int main(int argc, char** argv) { return bench::MainOfTwoRanks(argc, argv, Measure); }
