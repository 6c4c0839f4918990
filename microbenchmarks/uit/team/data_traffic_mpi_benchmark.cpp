// How fast do data flow through a graph of 5 to 21 ranks on a few cores: if ranks are threads of a team, or if they are processes
// of MPI? The graphs are like those of the benchmark DT of the NAS suite: black hole, white hole and shuffle. There are more ranks
// than cores, so MPI's processes yield while they wait.

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <uit/support/clock.hpp>
#include <uit/team/member.hpp>

#include "data_traffic.hpp"
#include "microbenchmarks/support/program.hpp"
#include "microbenchmarks/support/ranks.hpp"
#include "microbenchmarks/support/servants.hpp"

namespace {

namespace traffic = bench::traffic;
using traffic::Word;
using Message = std::vector<Word>;

constexpr std::size_t max_ranks = 21;
/// Messages that may wait on an edge.
constexpr std::size_t depth = 4;

double PerPass(uit::TimePoint start, std::uint64_t count) {
  return std::chrono::duration<double, std::nano>(uit::Now() - start).count() / static_cast<double>(count);
}
void Require(bool holds, const char* competitor, const traffic::Graph& graph) {
  if (holds) return;
  std::fprintf(stderr, "%s: the sinks of the %s have added up something else than they must\n", competitor, graph.name.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/// One member's node of the graph.
class Member {
 public:
  /// All members make one, then call Connect.
  Member(uit::Member& me, const traffic::Graph& graph) : me_{me}, mill_{me.Rank()} {
    const uit::ConduitOptions options{.depth = depth};
    for (const std::size_t from : graph.in[me.Rank()]) in_.push_back(me.OutletFrom<Message>(from, options));
    for (const std::size_t to : graph.out[me.Rank()]) out_.push_back(me.InletTo<Message>(to, options));
  }

  void Pass(std::uint64_t pass) {
    mill_.Begin(pass);
    for (auto& outlet : in_)
      me_.WaitUntil([&] { return outlet.TryRead([&](std::span<const Word> arrived) { mill_.Add(arrived); }); });
    for (auto& inlet : out_) inlet.Put(mill_.Data());
    if (out_.empty()) sum_ += mill_.Sum();
  }
  [[nodiscard]] Word Sum() const { return sum_; }

 private:
  uit::Member& me_;
  traffic::Mill mill_;
  std::vector<uit::MemberOutlet<Message>> in_;
  std::vector<uit::MemberInlet<Message>> out_;
  Word sum_ = 0;
};

/// ns per pass.
double ByMembers(const traffic::Graph& graph, const traffic::Reference& reference, std::uint64_t count) {
  const uit::Team team{{}, {.threads = static_cast<std::uint32_t>(graph.Size())}};
  double time = 0;
  team.Run([&](uit::Member& me) {
    Member member{me, graph};
    me.Connect();
    me.Barrier();
    const uit::TimePoint start = uit::Now();
    for (std::uint64_t pass = 0; pass < count; ++pass) member.Pass(pass);
    const Word sum = me.AllReduce(member.Sum(), std::plus<>{});
    if (!me.IsRoot()) return;
    time = PerPass(start, count);
    Require(sum == reference.Sum(count), "members", graph);
  });
  return time;
}

/// One process's node of the graph. Receives are posted ahead, and sends need not end at once.
class Process {
 public:
  Process(MPI_Comm communicator, std::size_t rank, const traffic::Graph& graph)
      : communicator_{communicator}, in_{graph.in[rank]}, out_{graph.out[rank]}, mill_(depth, traffic::Mill{rank}),
        arrived_(depth * in_.size(), Message(traffic::num_words)), receives_(depth * in_.size(), MPI_REQUEST_NULL),
        sends_(depth * out_.size(), MPI_REQUEST_NULL) {}

  Word Run(std::uint64_t count) {
    Word sum = 0;
    for (std::uint64_t pass = 0; pass < std::min<std::uint64_t>(depth, count); ++pass) Post(pass);
    for (std::uint64_t pass = 0; pass < count; ++pass) sum += Pass(pass, count);
    MPI_Waitall(static_cast<int>(sends_.size()), sends_.data(), MPI_STATUSES_IGNORE);
    return sum;
  }

 private:
  /// The requests of a pass.
  static MPI_Request* Of(std::vector<MPI_Request>& requests, std::uint64_t pass) {
    return requests.data() + pass % depth * (requests.size() / depth);
  }
  void Post(std::uint64_t pass) {
    for (std::size_t i = 0; i < in_.size(); ++i)
      MPI_Irecv(arrived_[pass % depth * in_.size() + i].data(), traffic::num_words, MPI_UINT64_T, static_cast<int>(in_[i]), 0,
                communicator_, Of(receives_, pass) + i);
  }
  Word Pass(std::uint64_t pass, std::uint64_t count) {
    traffic::Mill& mill = mill_[pass % depth];
    MPI_Waitall(static_cast<int>(out_.size()), Of(sends_, pass), MPI_STATUSES_IGNORE);
    mill.Begin(pass);
    for (std::size_t i = 0; i < in_.size(); ++i) {
      MPI_Wait(Of(receives_, pass) + i, MPI_STATUS_IGNORE);
      mill.Add(arrived_[pass % depth * in_.size() + i]);
    }
    if (pass + depth < count) Post(pass + depth);
    const Message& message = mill.Data();
    MPI_Request* const sends = Of(sends_, pass);
    for (std::size_t i = 0; i < out_.size(); ++i)
      MPI_Isend(message.data(), traffic::num_words, MPI_UINT64_T, static_cast<int>(out_[i]), 0, communicator_, sends + i);
    return out_.empty() ? mill.Sum() : 0;
  }

  MPI_Comm communicator_;
  const std::vector<std::size_t>& in_;
  const std::vector<std::size_t>& out_;
  std::vector<traffic::Mill> mill_;  // of the passes under way
  std::vector<Message> arrived_;
  std::vector<MPI_Request> receives_;
  std::vector<MPI_Request> sends_;
};

/// ns per pass, on rank 0. All ranks call it; those without a node return at once.
double ByProcesses(MPI_Comm communicator, const traffic::Graph& graph, const traffic::Reference& reference, std::uint64_t count) {
  if (communicator == MPI_COMM_NULL) return 0;
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  Process process{communicator, static_cast<std::size_t>(rank), graph};
  MPI_Barrier(communicator);
  const uit::TimePoint start = uit::Now();
  Word sum = process.Run(count);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, communicator);
  const double time = PerPass(start, count);
  if (rank == 0) Require(sum == reference.Sum(count), "processes", graph);
  return time;
}

/// A graph, its result, and a communicator of as many ranks as it has nodes.
struct Case {
  explicit Case(traffic::Graph made) : graph{std::move(made)}, reference{graph} {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, static_cast<std::size_t>(rank) < graph.Size() ? 0 : MPI_UNDEFINED, rank, &communicator);
  }

  traffic::Graph graph;
  traffic::Reference reference;
  MPI_Comm communicator = MPI_COMM_NULL;
};

template <typename Do>
int Measure(int argc, char** argv, const std::vector<Case>& cases, bench::Servants& servants, Do&& by_processes) {
  bench::Program program{argc, argv, bench::MpiName()};
  bench::Crew crew{2};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case& each = cases[i];
    const std::string name = "data traffic, " + each.graph.name + ", " + std::to_string(each.graph.Size()) + " ranks";
    bench::Contest contest{name, bench::Unit::thousands_per_second};
    contest.is_oversubscribed = true;
    contest.window = std::chrono::milliseconds(50);
    const auto add = [&](const std::string& competitor, auto run) {
      contest.Add(competitor, [&crew, run](const bench::Load& load) {
        crew.Unpin();
        const double time = run(load.count);
        crew.Pin();
        return time;
      });
    };
    add("members", [&each](std::uint64_t count) { return ByMembers(each.graph, each.reference, count); });
    add("MPI processes", [&servants, &by_processes, i](std::uint64_t count) { return servants.Call(i, count, by_processes); });
    contest.Say({.name = name + ": over MPI processes", .ours = "members", .against = {"MPI processes"}, .at_least = 1.2});
    program.Run(contest, crew);
  }
  servants.Dismiss();
  return program.Finish();
}

int Run(int argc, char** argv) {
  bench::Servants servants;
  std::vector<Case> cases;
  for (const std::size_t num_ends : {4U, 8U, 16U}) {
    cases.emplace_back(traffic::BlackHole(num_ends));
    cases.emplace_back(traffic::WhiteHole(num_ends));
  }
  cases.emplace_back(traffic::Shuffle(4));
  const auto by_processes = [&cases](std::size_t i, std::uint64_t count) {
    return ByProcesses(cases[i].communicator, cases[i].graph, cases[i].reference, count);
  };
  if (servants.IsLead()) return Measure(argc, argv, cases, servants, by_processes);
  servants.Serve(by_processes);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  ::setenv("OMPI_MCA_mpi_yield_when_idle", "1", 1);
  MPI_Init(&argc, &argv);
  int size = 0;
  int rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const bool is_right = static_cast<std::size_t>(size) == max_ranks;
  if (!is_right && rank == 0) std::fprintf(stderr, "start it with %zu ranks\n", max_ranks);
  const int code = is_right ? Run(argc, argv) : 2;
  MPI_Finalize();
  return code;
}
