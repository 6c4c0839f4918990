// Usage: resilient_program MODE UPDATES EVERY FOLDER FIELD [RANK@UPDATE | RANK@UPDATEs | RANK@UPDATEp]…
// FIELD is "published" or "private". Each process named ends itself, as the system would, in this update. With an s it stops itself
// instead, and with a p it pauses for longer than peer_timeout. UPDATES, EVERY and UPDATE may also be a time, such as 500ms. The
// first of the others prints what has become of the nodes and of the accounts. resilient_test.py checks it.
#include <netuit/app/guarded_main.hpp>
#include <netuit/graph/topologies.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/resilience/resilient.hpp>
#include <netuit/run/modes.hpp>
#include <netuit/run/run.hpp>
#include <uit/support/clock.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

namespace {

std::atomic<std::uint64_t> num_tried{0};
std::atomic<std::uint64_t> num_put{0};
std::optional<std::uint64_t> last_update;  // of this process, which ends in it
std::optional<uit::TimePoint> last_moment;  // or then
int last_signal = SIGKILL;                 // which it gets then
std::vector<std::uint64_t> pauses;         // updates of this process in which it sleeps

/// Nodes that count their updates, show what they have computed from their neighbours, and send messages that add up to it.
struct Model {
  Model(const uit::Team& team, bool is_published) : mesh(team, netuit::MakeTorus(8, 8)) {
    if (is_published) shown = mesh.AddPublishedField<std::uint64_t>();
  }

  void Update(netuit::Node& node) {
    if (last_update && node.Update() >= *last_update) std::raise(last_signal);
    if (last_moment && uit::Now() >= *last_moment) std::raise(last_signal);
    if (node.Index() == 0 && std::ranges::count(pauses, node.Update()) != 0) std::this_thread::sleep_for(2500ms);
    ++made[node];
    last[node] = node.Update();
    std::uint64_t sum = node.Random().Below(1000);
    for (const auto edge : node.In()) sum = sum * 31 + mail[edge].JumpGet() + (shown ? (*shown)[edge] : 0);
    if (shown) (*shown)[node] = (sum ^ (sum >> 31)) * 0x9E3779B97F4A7C15U + 1;  // else the effect of earlier updates would fade
    std::uint64_t number = 0;
    for (const auto edge : node.Out()) {
      num_tried.fetch_add(1, std::memory_order_relaxed);
      if (mail[edge].TryPut(sum + ++number)) num_put.fetch_add(1, std::memory_order_relaxed);
    }
  }

  netuit::Mesh mesh;
  netuit::Field<std::uint64_t> made = mesh.AddField<std::uint64_t>();
  netuit::Field<std::uint64_t> last = mesh.AddField<std::uint64_t>();
  std::optional<netuit::PublishedField<std::uint64_t>> shown{};  // otherwise messages alone are put, so that they can be counted
  netuit::Channels<std::uint64_t, uit::every> mail = mesh.AddChannels<std::uint64_t, uit::every>();
};

/// What a process knows of its nodes in the end.
struct Seen {
  std::uint64_t num_nodes = 0;
  std::uint64_t sum_of_ids = 0;
  std::uint64_t least_made = ~std::uint64_t{0};
  std::uint64_t most_made = 0;
  std::uint64_t sum_made = 0;
  std::uint64_t least_last = ~std::uint64_t{0};
  std::uint64_t hash = 0;        // of the nodes' values
  std::uint64_t num_stale = 0;   // edges that do not show their source's value
  std::uint64_t num_tried = 0;
  std::uint64_t num_put = 0;

  void Add(const Seen& other) {
    num_nodes += other.num_nodes;
    sum_of_ids += other.sum_of_ids;
    least_made = std::min(least_made, other.least_made);
    most_made = std::max(most_made, other.most_made);
    sum_made += other.sum_made;
    least_last = std::min(least_last, other.least_last);
    hash += other.hash;
    num_stale += other.num_stale;
    num_tried += other.num_tried;
    num_put += other.num_put;
  }
};

Seen Look(Model& model) {
  Seen mine{.num_tried = num_tried.load(), .num_put = num_put.load()};
  std::vector<std::uint64_t> by_node(model.mesh.NumNodes());
  model.mesh.Visit([&](netuit::Node& node) { by_node[node.Id()] = model.shown ? (*model.shown)[node] : 0; });
  std::vector<std::uint64_t> all(by_node.size());
  for (const uit::Bytes& theirs : model.mesh.GetWorld().AllGather(std::as_bytes(std::span(by_node)))) {
    uit::ByteReader reader(theirs);
    std::uint64_t value = 0;
    for (std::size_t node = 0; node < all.size() && reader.TryRead(value); ++node) all[node] += value;
  }
  model.mesh.Visit([&](netuit::Node& node) {
    ++mine.num_nodes;
    mine.sum_of_ids += node.Id();
    mine.least_made = std::min(mine.least_made, model.made[node]);
    mine.most_made = std::max(mine.most_made, model.made[node]);
    mine.sum_made += model.made[node];
    mine.least_last = std::min(mine.least_last, model.last[node]);
    mine.hash += (by_node[node.Id()] ^ node.Id()) * 0x9E3779B97F4A7C15U;
    for (const auto edge : node.In()) mine.num_stale += model.shown && (*model.shown)[edge] != all[edge.Source()] ? 1U : 0U;
  });
  Seen sum;
  for (const Seen& theirs : model.mesh.GetWorld().AllGatherValue(mine)) sum.Add(theirs);
  return sum;
}

/// The time that a word names, or 0.
std::chrono::milliseconds TimeOf(const std::string& word) {
  return std::chrono::milliseconds(word.ends_with("ms") ? std::stoll(word) : 0);
}
/// The number that a word names, or 0.
std::uint64_t NumberOf(const std::string& word) { return word.ends_with("ms") ? 0 : std::stoull(word); }

}  // namespace

int main(int argc, char** argv) {
  return netuit::GuardedMain(argc, argv, [&](const uit::World& world) {
    if (argc < 6) throw uit::InputError("MODE, UPDATES, EVERY, FOLDER and FIELD are needed");
    const bool is_published = std::string(argv[5]) == "published";
    std::chrono::nanoseconds peer_timeout = 1min;
    std::optional<std::chrono::milliseconds> last_span;
    for (int i = 6; i < argc; ++i) {
      const std::string kill = argv[i];
      const std::string when = kill.substr(kill.find('@') + 1);
      const bool is_timed = TimeOf(when) != 0ms;
      const bool stops = kill.back() == 's' && !is_timed;
      const bool is_pause = kill.back() == 'p';
      if (stops || is_pause) peer_timeout = 2s;
      if (std::stoull(kill) != world.Rank()) continue;
      if (is_pause) pauses.push_back(NumberOf(when));
      else if (is_timed) last_span = TimeOf(when);
      else last_update = NumberOf(when);
      if (stops) last_signal = SIGSTOP;
    }
    const uit::Team team{world, {.threads = 2}};
    netuit::Resilient<Model> model(team, [=](const uit::Team& on) { return std::make_unique<Model>(on, is_published); },
                                   {.to = argv[4], .every = TimeOf(argv[3]), .every_updates = NumberOf(argv[3])});
    const auto mode = static_cast<netuit::AsyncMode>(std::atoi(argv[1]));
    if (last_span) last_moment = uit::Now() + *last_span;  // not before: setting up takes long on a busy machine
    const uit::TimePoint begin = uit::Now();
    const netuit::RunReport report =
        model.Run(netuit::ScheduleOf(mode, {.updates = NumberOf(argv[2]), .duration = TimeOf(argv[2])}), {.seed = 7, .peer_timeout = peer_timeout});
    const std::chrono::nanoseconds took = uit::Now() - begin;  // with checkpoints, and with taking over
    if (report.stopped_by == netuit::StopReason::peer_lost) return report.ExitCode();
    const Seen seen = Look(*model);
    if (!model.GetTeam().IsRoot()) return report.ExitCode();
    std::uint64_t num_missing = 0;
    std::uint64_t num_messages = 0;
    std::uint64_t resumed_at = 0;
    std::printf("lost:");
    for (const std::size_t rank : report.lost_peers) std::printf(" %zu", rank);
    for (const netuit::Loss& loss : model.Losses()) {
      num_missing += loss.num_nodes;
      num_messages += loss.num_messages;
      resumed_at = loss.num_updates;
    }
    uit::Tally tally = report.Tally();
    for (const netuit::WorkerReport& worker : report.workers) tally += worker.inside;
    const auto print = [](const char* name, std::uint64_t value) {
      std::printf("\n%s: %llu", name, static_cast<unsigned long long>(value));
    };
    print("processes", model.GetTeam().NumProcesses());
    print("workers", report.workers.size());
    print("nodes", seen.num_nodes);
    print("sum of ids", seen.sum_of_ids);
    print("least made", seen.least_made);
    print("most made", seen.most_made);
    print("sum made", seen.sum_made);
    print("least last", seen.least_last);
    print("hash", seen.hash);
    print("stale", seen.num_stale);
    print("tried", seen.num_tried);
    print("put", seen.num_put);
    print("attempted", tally.put.attempted);
    print("accepted", tally.put.Accepted());
    print("in flight", static_cast<std::uint64_t>(tally.InFlight()));
    print("messages again", num_messages);
    print("nodes taken over", num_missing);
    print("resumed at", resumed_at);
    print("updates", model->mesh.NumUpdates());
    print("milliseconds", static_cast<std::uint64_t>(report.Elapsed() / 1ms));
    print("milliseconds with checkpoints", static_cast<std::uint64_t>(took / 1ms));
    std::printf("\nend\n");
    return report.ExitCode();
  });
}
