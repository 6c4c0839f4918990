#include <netuit/netuit.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/netuit/run/chaos.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"

using namespace netuit;
using netuit::testing::MakeOddGraph;
using netuit::testing::Mix;
using uit::testing::MpiTestWorld;
using uit::testing::SumOverRanks;
using namespace std::chrono_literals;

namespace {

/// What every message says: which edge (or node) it is of, which of its messages it is, and a sum over both.
struct Numbered {
  std::uint64_t channel = 0;
  std::uint64_t number = 0;  // from 1; 0 before the first message
  std::uint64_t check = 0;

  static Numbered Make(std::uint64_t channel, std::uint64_t number) { return {channel, number, Mix(channel, number)}; }
  bool IsIntact() const { return number == 0 || check == Mix(channel, number); }
};

using uit::Consolidate;
using uit::Policy;
using uit::Retain;

struct Heard : Multicast<Numbered> {};
struct HeardSeldom : Multicast<Numbered, LayerOptions{.period = 3}> {};
struct EachSolo : Unicast<Numbered> {};
struct EachPooled : Unicast<Numbered, Policy{.consolidate = Consolidate::pooled}> {};
struct NewestSolo : Unicast<Numbered, Policy{.retain = Retain::latest}> {};
struct NewestPooled : Unicast<Numbered, Policy{.retain = Retain::latest, .consolidate = Consolidate::pooled}> {};
struct EachPooledSeldom : Unicast<Numbered, Policy{.consolidate = Consolidate::pooled}, LayerOptions{.period = 4}> {};

/// What the program itself knows of the messages of one layer, by local node and for each of its inputs or outputs.
template <Layer L>
struct Book {
  std::vector<std::vector<std::uint64_t>> sent;      // accepted, by output; for a multicast layer one for all outputs
  std::vector<std::vector<std::uint64_t>> received;  // number of the newest, by input
  std::vector<std::uint64_t> num_refused;            // by node: puts to conduits that leave the thread
  std::vector<std::uint64_t> num_crossing;           // by node: puts to them, accepted or not
  std::vector<std::uint64_t> num_muted;              // by node: puts to them in runs without communication
  std::vector<std::uint64_t> num_stepped;            // by node: messages of such conduits or channels that it came to see
  std::vector<std::uint64_t> num_late;               // by node: values of such channels that came after the last update
  std::vector<std::uint64_t> num_faults;             // by node

  explicit Book(std::size_t num_nodes)
      : sent(num_nodes),
        received(num_nodes),
        num_refused(num_nodes),
        num_crossing(num_nodes),
        num_muted(num_nodes),
        num_stepped(num_nodes),
        num_late(num_nodes),
        num_faults(num_nodes) {}
};

/// A run of any mode in which every node numbers what it puts and checks what it reads.
template <Layer... Ls>
class Correspondence {
 public:
  Correspondence(const Topology& topology, const Placement& placement)
      : topology_(topology),
        placement_(placement),
        mesh_(topology, placement, MpiTestWorld(), {.depth = 3}),
        books_(Book<Ls>(mesh_.NumLocalNodes())...),
        stands_for_channel_(mesh_.NumLocalNodes()) {
    std::set<std::pair<std::uint32_t, NodeId>> channels;  // by reading place, and source
    for (std::size_t local = 0; local < mesh_.NumLocalNodes(); ++local) {
      const std::uint32_t here = placement_.WorkerOf(mesh_.Id(local));
      for (const EdgeId edge : topology_.InEdges(mesh_.Id(local))) {
        const NodeId source = topology_.Source(edge);
        stands_for_channel_[local].push_back(placement_.WorkerOf(source) != here && channels.emplace(here, source).second);
      }
    }
  }

  RunReport Run(RunOptions options) {
    mode_ = options.mode;
    return netuit::Run(mesh_, options, [this](auto& node) {
      auto random = node.Random();
      (this->template Read<Ls>(node, random() % 3), ...);
      (this->template Write<Ls>(node, random() % 3), ...);
    });
  }

  /// Everything that can be said of a layer when all is still: on rank 0, over all ranks.
  template <Layer L>
  void Check() {
    ReadTheRest<L>();
    const Book<L>& book = Of<L>();
    CHECK(Sum(book.num_faults) == 0);
    // What was sent last on each edge is what was received last.
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    for (std::size_t local = 0; local < mesh_.NumLocalNodes(); ++local) {
      const NodeId node = mesh_.Id(local);
      const std::size_t num_outputs = topology_.OutNeighbors(node).size();
      for (std::size_t k = 0; k < num_outputs; ++k) {
        const auto& numbers = book.sent[local];
        sent += Mix(topology_.FirstOutEdge(node) + k, numbers.empty() ? 0 : numbers[MulticastLayer<L> ? 0 : k]);
      }
      const auto edges = topology_.InEdges(node);
      for (std::size_t i = 0; i < edges.size(); ++i) received += Mix(edges[i], book.received[local][i]);
    }
    CHECK(SumOverRanks(sent) == SumOverRanks(received));
  }

  /// What became of messages of channels that leave their thread, since the mesh was made, as far as the nodes know. Of all
  /// ranks; after a run, of which nobody reads any more what was left.
  template <Layer L>
  uit::Tally Books() {
    const Book<L>& book = Of<L>();
    uit::Tally tally;
    tally.put = {.attempted = SumOverRanks(Sum(book.num_crossing)),
                 .dropped = SumOverRanks(Sum(book.num_refused)),
                 .muted = SumOverRanks(Sum(book.num_muted))};
    tally.get.stepped = SumOverRanks(Sum(book.num_stepped));
    tally.get.unread = SumOverRanks(Sum(book.num_late));
    if constexpr (UnicastLayer<L> && L::policy.retain == Retain::every) tally.get.unread = tally.put.Accepted() - tally.get.stepped;
    if constexpr (MulticastLayer<L>) tally.put.preempted = tally.put.Accepted() - tally.get.stepped - tally.get.unread;
    return tally;
  }

 private:
  template <Layer L>
  Book<L>& Of() {
    return std::get<Book<L>>(books_);
  }
  static std::uint64_t Sum(const std::vector<std::uint64_t>& values) {
    std::uint64_t sum = 0;
    for (const std::uint64_t value : values) sum += value;
    return sum;
  }

  /// How many channels of a node's output leave the thread: for a conduit 0 or 1, for a value the places that read it.
  template <Layer L>
  std::uint64_t NumAway(NodeId node, std::size_t output) const {
    const std::uint32_t here = placement_.WorkerOf(node);
    const auto targets = topology_.OutNeighbors(node);
    if constexpr (UnicastLayer<L>) return placement_.WorkerOf(targets[output]) != here ? 1 : 0;
    std::vector<std::uint32_t> workers;
    for (const NodeId target : targets) {
      if (placement_.WorkerOf(target) != here) workers.push_back(placement_.WorkerOf(target));
    }
    std::ranges::sort(workers);
    return static_cast<std::uint64_t>(std::ranges::unique(workers).begin() - workers.begin());
  }

  template <Layer L>
  void Heed(std::size_t local, std::size_t input, EdgeId edge, const Numbered& message) {
    Book<L>& book = Of<L>();
    const std::uint64_t channel = MulticastLayer<L> ? topology_.Source(edge) : edge;
    auto& newest = book.received[local][input];
    if (message.number != 0) book.num_faults[local] += !message.IsIntact() || message.channel != channel;
    if constexpr (L::policy.retain == Retain::every) {
      book.num_faults[local] += message.number != newest + 1;  // each, once, in order
    } else {
      book.num_faults[local] += message.number < newest;
    }
    newest = message.number;
  }

  template <Layer L>
  void Read(auto& node, unsigned appetite) {
    const std::size_t local = node.Index();
    const auto edges = topology_.InEdges(node.Id());
    Of<L>().received[local].resize(edges.size());
    std::size_t input = 0;
    for (auto&& in : node.template In<L>()) {
      if constexpr (MulticastLayer<L>) {
        CountChange<L>(local, input, in, Of<L>().num_stepped);
        Heed<L>(local, input, edges[input], in);
      } else {
        const bool crosses = placement_.WorkerOf(topology_.Source(edges[input])) != placement_.WorkerOf(node.Id());
        for (unsigned i = 0; i < appetite && in.TryStep() != 0; ++i) {
          Of<L>().num_stepped[local] += crosses ? 1 : 0;
          Heed<L>(local, input, edges[input], in.Get());
        }
      }
      ++input;
    }
  }

  template <Layer L>
  void Write(auto& node, unsigned zeal) {
    const std::size_t local = node.Index();
    Book<L>& book = Of<L>();
    const auto put = [&](auto&& out, std::size_t output, std::uint64_t channel) {
      for (unsigned i = 0; i < zeal; ++i) {
        const std::uint64_t num_away = NumAway<L>(node.Id(), output);
        const bool is_accepted = out.TryPut(Numbered::Make(channel, book.sent[local][output] + 1));
        if (is_accepted) ++book.sent[local][output];
        if (mode_ == AsyncMode::no_communication) {
          book.num_muted[local] += num_away;
        } else {
          book.num_crossing[local] += num_away;
          book.num_refused[local] += is_accepted ? 0 : num_away;
        }
      }
    };
    if constexpr (MulticastLayer<L>) {
      book.sent[local].resize(1);
      if (node.NumOutputs() != 0) put(node.template Out<L>(), 0, node.Id());
    } else {
      book.sent[local].resize(node.NumOutputs());
      std::size_t output = 0;
      for (auto&& out : node.template Out<L>()) {
        put(out, output, topology_.FirstOutEdge(node.Id()) + output);
        ++output;
      }
    }
  }

  /// Counts the message of a channel from another place, if its nodes see it for the first time. Once for all of them.
  template <Layer L>
  void CountChange(std::size_t local, std::size_t input, const Numbered& message, std::vector<std::uint64_t>& count) {
    const bool is_new = message.number != Of<L>().received[local][input];
    if (is_new && stands_for_channel_[local][input]) ++count[local];
  }

  /// After a run an input shows the newest message that was sent to it.
  template <Layer L>
  void ReadTheRest() {
    netuit::Run(mesh_, {.mode = AsyncMode::no_communication, .num_updates = 1}, [this](auto& node) {
      const std::size_t local = node.Index();
      auto& received = Of<L>().received[local];
      std::size_t input = 0;
      for (auto&& in : node.template In<L>()) {
        const Numbered* message = nullptr;
        if constexpr (MulticastLayer<L>) {
          message = &in;
          // A bulk synchronous update ends with values that the next would read; without communication none are counted.
          if (mode_ == AsyncMode::every_update) CountChange<L>(local, input, in, Of<L>().num_stepped);
          else if (mode_ != AsyncMode::no_communication) CountChange<L>(local, input, in, Of<L>().num_late);
        } else {
          Of<L>().num_faults[local] += in.TryStep() != 0;
          message = &in.Get();
        }
        Of<L>().num_faults[local] += message->number < received[input] || !message->IsIntact();
        received[input++] = message->number;
      }
    });
  }

  const Topology& topology_;
  const Placement& placement_;
  TaggedMesh<Ls...> mesh_;
  std::tuple<Book<Ls>...> books_;
  std::vector<std::vector<bool>> stands_for_channel_;  // by local node and input: the first that reads a channel at its place
  AsyncMode mode_ = AsyncMode::no_barrier;
};

const std::vector<RunOptions> runs{{.mode = AsyncMode::no_barrier, .num_updates = 200},
                                   {.mode = AsyncMode::every_update, .num_updates = 33},
                                   {.mode = AsyncMode::rolling, .duration = 20ms, .rolling_span = 3ms},
                                   {.mode = AsyncMode::no_communication, .num_updates = 20},
                                   {.mode = AsyncMode::fixed, .num_updates = 100, .fixed_period = 2ms},
                                   {.mode = AsyncMode::no_barrier, .duration = 20ms},
                                   {.mode = AsyncMode::every_update, .num_updates = 1},
                                   {.mode = AsyncMode::no_barrier, .num_updates = 1}};

template <Layer... Ls>
void CheckAllModes() {
  const Topology topology = MakeOddGraph(80, 1);
  for (const std::size_t threads : {1U, 2U}) {
    const Placement placement = PlaceRandom(topology, {.processes = MpiTestWorld().Size(), .threads = threads}, 1);
    Correspondence<Ls...> correspondence{topology, placement};
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const AsyncMode mode = runs[i].mode;
      INFO(threads << " threads, run " << i << ", mode " << static_cast<int>(mode));
      RunOptions options = runs[i];
      options.seed = i;
      const RunReport report = correspondence.Run(options);
      CHECK(report.ExitCode() == 0);
      (correspondence.template Check<Ls>(), ...);
      uit::Tally books;
      ((books += correspondence.template Books<Ls>()), ...);
      if (!MpiTestWorld().IsRoot()) continue;
      CHECK(report.Balanced());
      const uit::Tally tally = report.Tally();
      CHECK(tally.InFlight() == 0);
      CHECK(tally.put.attempted == books.put.attempted);
      CHECK(tally.put.dropped == books.put.dropped);
      CHECK(tally.put.muted == books.put.muted);
      CHECK(tally.get.stepped == books.get.stepped);  // each of one message
      CHECK(tally.get.folded == 0);
      if constexpr (((MulticastLayer<Ls> || Ls::policy.retain == Retain::every) && ...)) {
        CHECK(tally.get.unread + tally.put.preempted == books.get.unread + books.put.preempted);
        // Nodes see only the last value that came after their last update; each frame that brought one counts it as unread.
        if constexpr ((MulticastLayer<Ls> || ...)) CHECK(tally.get.unread >= books.get.unread);
        else CHECK(tally.get.unread == books.get.unread);
        CHECK(tally.get.skipped == 0);
      }
    }
  }
}

}  // namespace

TEST_CASE("Values of nodes are accounted for after every run in every mode") { CheckAllModes<Heard>(); }

TEST_CASE("Values of nodes of which some are seldom due are accounted for") { CheckAllModes<HeardSeldom, Heard>(); }

TEST_CASE("Unpooled messages between processes arrive once, in order, and are accounted for") {
  CheckAllModes<EachSolo>();
}

TEST_CASE("Every message of a conduit that shares frames arrives once, in order, and is accounted for") {
  CheckAllModes<EachPooled, EachPooledSeldom>();
}

TEST_CASE("The newest message of a conduit arrives, and those it replaced are accounted for") {
  CheckAllModes<NewestSolo, NewestPooled>();
}
