#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/run/modes.hpp>
#include <netuit/run/run.hpp>
#include <set>
#include <uit/policy.hpp>
#include <uit/tally.hpp>
#include <utility>
#include <vector>

#include "tests/netuit/run/odd_graph.hpp"
#include "tests/netuit/run/policies.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"

using namespace netuit;
using netuit::testing::MakeOddGraph;
using netuit::testing::Mix;
using netuit::testing::pooled;
using netuit::testing::newest_pooled;
using uit::testing::MpiTestWorld;
using uit::testing::SumOverRanks;
using namespace std::chrono_literals;

namespace {

using Word = std::uint64_t;

/// Contents of every message: its edge (or node), its number on that edge, and a checksum of both.
struct Numbered {
  Word channel = 0;
  Word number = 0;  // from 1; 0 before the first message
  Word check = 0;

  static Numbered Make(Word channel, Word number) { return {channel, number, Mix(channel, number)}; }
  bool IsIntact() const { return number == 0 || check == Mix(channel, number); }
};

/// What a node knows of the messages that it exchanges with other threads.
struct Counts {
  Word num_put = 0;      // accepted or not
  Word num_refused = 0;
  Word num_muted = 0;    // in runs without communication
  Word num_stepped = 0;  // messages that it has seen
  Word num_late = 0;     // values that came after the last update
  Word num_faults = 0;
};

/// One kind of layer, and what the program itself knows of its messages.
class Ledger {
 public:
  Ledger(const Topology& topology, const Placement& placement, Network network)
      : topology_(topology), placement_(placement), network_(network), sent_(topology.NumEdges()), received_(topology.NumEdges()),
        counts_(topology.NumNodes()) {}
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;
  virtual ~Ledger() = default;

  void SetMode(AsyncMode mode) { mode_ = mode; }
  virtual void Read(Node& node, Word appetite) = 0;
  virtual void Write(Node& node, Word zeal, bool is_silent) = 0;
  /// Called when nothing is in flight: sees the values that came last, which no update has to read.
  virtual void Settle(Node&) {}
  /// Then reads every message that waits.
  virtual void ReadTheRest(Node& node) = 0;
  /// Returns whether the program knows how many messages no node has seen.
  virtual bool KnowsUnread() const { return true; }
  virtual bool HasValues() const { return false; }
  /// Returns what the nodes know of the messages of channels between threads, since the mesh was created. Over all ranks;
  /// after a run.
  virtual uit::Tally Books() const {
    uit::Tally tally;
    tally.put = {.attempted = Sum(&Counts::num_put), .dropped = Sum(&Counts::num_refused), .muted = Sum(&Counts::num_muted)};
    tally.get.stepped = Sum(&Counts::num_stepped);
    return tally;
  }
  void CheckFaults() const { CHECK(Sum(&Counts::num_faults) == 0); }
  /// Returns whether the message last sent on each edge was the one last received.
  void CheckNewest() const {
    Word sent = 0;
    Word received = 0;
    for (EdgeId edge = 0; edge < topology_.NumEdges(); ++edge) {
      sent += Mix(edge, sent_[edge]);
      received += Mix(edge, received_[edge]);
    }
    CHECK(SumOverRanks(sent) == SumOverRanks(received));
  }

 protected:
  bool Crosses(EdgeId edge) const { return WorkerOf(topology_.Source(edge)) != WorkerOf(topology_.Target(edge)); }
  std::uint32_t WorkerOf(NodeId node) const { return placement_.WorkerOf(node); }
  Word Sum(Word Counts::* count) const {
    Word sum = 0;
    for (const Counts& counts : counts_) sum += counts.*count;
    return SumOverRanks(sum);
  }

  const Topology& topology_;
  const Placement& placement_;
  Network network_;
  std::vector<Word> sent_;      // by edge that begins here: number of the newest accepted message
  std::vector<Word> received_;  // by edge that ends here: number of the newest message
  std::vector<Counts> counts_;  // by node of this process
  AsyncMode mode_ = AsyncMode::no_barrier;
};

/// A published field. Here a channel is a node together with another worker that reads it.
class FieldLedger final : public Ledger {
 public:
  FieldLedger(Mesh& mesh, const Topology& topology, const Placement& placement, Network network, Word period)
      : Ledger(topology, placement, network), field_(mesh.AddPublishedField<Numbered>({}, {network})), period_(period),
        stands_for_channel_(topology.NumEdges()) {
    std::set<std::pair<std::uint32_t, NodeId>> channels;  // by reading worker and source
    mesh.Visit([&](Node& node) {
      for (const auto edge : node.In(network)) {
        const bool is_first = Crosses(edge.Id()) && channels.emplace(WorkerOf(node.Id()), edge.Source()).second;
        stands_for_channel_[edge.Id()] = is_first ? 1 : 0;
      }
    });
  }

  void Read(Node& node, Word) override { ReadAll(node, &Counts::num_stepped); }
  void Write(Node& node, Word, bool is_silent) override {
    const bool is_due_next = (node.Update() + 1) % period_ == 0;
    if (is_silent || !is_due_next) return;
    const Word number = field_[node].number + 1;
    field_[node] = Numbered::Make(node.Id(), number);
    std::set<std::uint32_t> workers;
    for (const auto edge : node.Out(network_)) {
      sent_[edge.Id()] = number;
      if (Crosses(edge.Id())) workers.insert(WorkerOf(edge.Target()));
    }
    Counts& counts = counts_[node.Id()];
    (mode_ == AsyncMode::no_communication ? counts.num_muted : counts.num_put) += workers.size();
  }
  void Settle(Node& node) override {
    // A bulk synchronous update ends with values that the next one would read; without communication none are counted.
    if (mode_ == AsyncMode::every_update || mode_ == AsyncMode::dataflow) ReadAll(node, &Counts::num_stepped);
    else if (mode_ == AsyncMode::no_communication) ReadAll(node, nullptr);
    else ReadAll(node, &Counts::num_late);
  }
  void ReadTheRest(Node&) override {}
  bool HasValues() const override { return true; }
  uit::Tally Books() const override {
    uit::Tally tally = Ledger::Books();
    tally.get.unread = Sum(&Counts::num_late);
    tally.put.preempted = tally.put.Accepted() - tally.get.stepped - tally.get.unread;
    return tally;
  }

 private:
  /// Counts a channel's new messages once for all nodes of the worker that read it.
  void ReadAll(Node& node, Word Counts::* count) {
    Counts& counts = counts_[node.Id()];
    for (const auto edge : node.In(network_)) {
      const Numbered& value = field_[edge];
      Word& newest = received_[edge.Id()];
      if (value.number != 0) counts.num_faults += !value.IsIntact() || value.channel != edge.Source();
      counts.num_faults += value.number < newest;
      if (count != nullptr && value.number != newest && stands_for_channel_[edge.Id()] != 0) ++(counts.*count);
      newest = value.number;
    }
  }

  PublishedField<Numbered> field_;
  Word period_;
  std::vector<char> stands_for_channel_;  // by edge that ends here: whether it is the first of its worker to read the channel
};

/// A channel per edge.
template <uit::Policy policy>
class ChannelLedger final : public Ledger {
 public:
  static constexpr bool keeps_every = policy.retain == uit::Retain::every;

  ChannelLedger(Mesh& mesh, const Topology& topology, const Placement& placement, Network network, Word)
      : Ledger(topology, placement, network), channels_(mesh.AddChannels<Numbered, policy>(network)) {}

  void Read(Node& node, Word appetite) override {
    for (const auto edge : node.In(network_)) ReadSome(node, edge, appetite);
  }
  void Write(Node& node, Word zeal, bool) override {
    Counts& counts = counts_[node.Id()];
    for (const auto edge : node.Out(network_)) {
      const Word num_away = Crosses(edge.Id()) ? 1 : 0;
      for (Word i = 0; i < zeal; ++i) {
        const bool is_accepted = channels_[edge].TryPut(Numbered::Make(edge.Id(), sent_[edge.Id()] + 1));
        if (is_accepted) ++sent_[edge.Id()];
        (mode_ == AsyncMode::no_communication ? counts.num_muted : counts.num_put) += num_away;
        if (mode_ != AsyncMode::no_communication && !is_accepted) counts.num_refused += num_away;
      }
    }
  }
  void ReadTheRest(Node& node) override { Read(node, uit::no_limit); }
  bool KnowsUnread() const override { return keeps_every; }
  uit::Tally Books() const override {
    uit::Tally tally = Ledger::Books();
    if (keeps_every) tally.get.unread = tally.put.Accepted() - tally.get.stepped;
    return tally;
  }

 private:
  void ReadSome(Node& node, InEdge edge, Word appetite) {
    Counts& counts = counts_[node.Id()];
    auto& outlet = channels_[edge];
    for (Word i = 0; i < appetite && outlet.TryStep() != 0; ++i) {
      const Numbered& message = outlet.Get();
      Word& newest = received_[edge.Id()];
      counts.num_faults += !message.IsIntact() || message.channel != edge.Id();
      // Each message, once, in order.
      counts.num_faults += keeps_every ? message.number != newest + 1 : message.number <= newest;
      counts.num_stepped += Crosses(edge.Id()) ? 1 : 0;
      newest = message.number;
    }
  }

  Channels<Numbered, policy> channels_;
};

/// One kind of layer, along a network with some period.
struct Kind {
  Word period;
  std::unique_ptr<Ledger> (*add)(Mesh&, const Topology&, const Placement&, Network, Word period);
};
template <typename L>
Kind KindOf(Word period = 1) {
  return {period, [](Mesh& mesh, const Topology& topology, const Placement& placement, Network network,
                     Word of) -> std::unique_ptr<Ledger> { return std::make_unique<L>(mesh, topology, placement, network, of); }};
}

/// Runs of any mode. Every node numbers its messages and checks those that it reads.
class Correspondence {
 public:
  Correspondence(const Topology& topology, const Placement& placement, const std::vector<Kind>& kinds)
      : team_{MpiTestWorld(), {.threads = static_cast<std::uint32_t>(placement.Shape().threads)}},
        mesh_{team_, NetworksOf(topology, kinds), {.placement = placement, .depth = 3}} {
    for (std::uint32_t i = 0; i < kinds.size(); ++i)
      ledgers_.push_back(kinds[i].add(mesh_, topology, placement, Network{i}, kinds[i].period));
  }

  RunReport Run(AsyncMode mode, const ModeSettings& settings, Word seed) {
    for (const auto& ledger : ledgers_) ledger->SetMode(mode);
    return mesh_.Run(ScheduleOf(mode, settings), [this](Node& node) {
      auto random = node.Random();
      for (const auto& ledger : ledgers_) ledger->Read(node, random() % 3);
      const bool is_silent = random() % 3 == 0;
      if (is_silent) node.StaySilent();
      for (const auto& ledger : ledgers_) ledger->Write(node, random() % 3, is_silent);
    }, {.seed = seed});
  }
  /// Returns what the nodes know of the messages after a run. Messages that wait count as unread until they are read.
  uit::Tally Books() {
    uit::Tally sum;
    for (const auto& ledger : ledgers_) {
      mesh_.Visit([&](Node& node) { ledger->Settle(node); });
      ledger->CheckFaults();
      sum += ledger->Books();
    }
    return sum;
  }
  /// Reads what waits instead of leaving it to the next run. Then every input has shown the newest message sent to it.
  void ReadTheRest() {
    for (const auto& ledger : ledgers_) {
      mesh_.Visit([&](Node& node) { ledger->ReadTheRest(node); });
      ledger->CheckFaults();
      ledger->CheckNewest();
    }
  }
  bool KnowsUnread() const {
    return std::ranges::all_of(ledgers_, [](const auto& ledger) { return ledger->KnowsUnread(); });
  }
  bool HasValues() const {
    return std::ranges::any_of(ledgers_, [](const auto& ledger) { return ledger->HasValues(); });
  }

 private:
  /// One network for each kind.
  static std::vector<NamedNetwork> NetworksOf(const Topology& topology, const std::vector<Kind>& kinds) {
    std::vector<NamedNetwork> networks;
    for (const Kind& kind : kinds) networks.push_back({"", topology, {.period = kind.period}});
    return networks;
  }

  uit::Team team_;
  Mesh mesh_;
  std::vector<std::unique_ptr<Ledger>> ledgers_;
};

const std::vector<std::pair<AsyncMode, ModeSettings>> runs{{AsyncMode::no_barrier, {.updates = 200}},
                                                           {AsyncMode::every_update, {.updates = 33}},
                                                           {AsyncMode::rolling, {.duration = 20ms, .span = 3ms}},
                                                           {AsyncMode::no_communication, {.updates = 20}},
                                                           {AsyncMode::fixed, {.updates = 100, .period = 2ms}},
                                                           {AsyncMode::no_barrier, {.duration = 20ms}},
                                                           {AsyncMode::every_update, {.updates = 1}},
                                                           {AsyncMode::dataflow, {.updates = 33}},
                                                           {AsyncMode::no_barrier, {.updates = 1}}};

void CheckAllModes(const std::vector<Kind>& kinds) {
  const Topology topology = MakeOddGraph(80, 1);
  for (const std::size_t threads : {1U, 2U}) {
    const Placement placement = PlaceRandom(topology, {.processes = MpiTestWorld().Size(), .threads = threads}, 1);
    Correspondence correspondence{topology, placement, kinds};
    for (std::size_t i = 0; i < 2 * runs.size(); ++i) {
      const auto& [mode, settings] = runs[i % runs.size()];
      INFO(threads << " threads, run " << i << ", mode " << static_cast<int>(mode));
      const RunReport report = correspondence.Run(mode, settings, i);
      CHECK(report.ExitCode() == 0);
      const uit::Tally books = correspondence.Books();
      if (i < runs.size() || i + 1 == 2 * runs.size()) correspondence.ReadTheRest();
      if (!MpiTestWorld().IsRoot()) continue;
      CHECK(report.Balanced());
      const uit::Tally tally = report.Tally();
      CHECK(tally.InFlight() == 0);
      CHECK(tally.put.attempted == books.put.attempted);
      CHECK(tally.put.dropped == books.put.dropped);
      CHECK(tally.put.muted == books.put.muted);
      CHECK(tally.get.stepped == books.get.stepped);  // each is of one message
      CHECK(tally.get.folded == 0);
      if (!correspondence.KnowsUnread()) continue;
      CHECK(tally.get.unread + tally.put.preempted == books.get.unread + books.put.preempted);
      // Nodes see only the last value that came after their last update. Every frame that brought one counts it as unread.
      CHECK((tally.get.unread == books.get.unread || (correspondence.HasValues() && tally.get.unread > books.get.unread)));
      CHECK(tally.get.skipped == 0);
    }
  }
}

}  // namespace

TEST_CASE("Values of nodes are accounted for after every run in every mode") { CheckAllModes({KindOf<FieldLedger>()}); }

TEST_CASE("Values of nodes of which some are seldom due are accounted for") {
  CheckAllModes({KindOf<FieldLedger>(3), KindOf<FieldLedger>()});
}

TEST_CASE("Unpooled messages between processes arrive once, in order, and are accounted for") {
  CheckAllModes({KindOf<ChannelLedger<uit::every>>()});
}

TEST_CASE("Every message of a conduit that shares frames arrives once, in order, and is accounted for") {
  CheckAllModes({KindOf<ChannelLedger<pooled>>(), KindOf<ChannelLedger<pooled>>(4)});
}

TEST_CASE("The newest message of a conduit arrives, and those it replaced are accounted for") {
  CheckAllModes({KindOf<ChannelLedger<uit::latest>>(), KindOf<ChannelLedger<newest_pooled>>()});
}
