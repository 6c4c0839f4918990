// If processes do not wait for each other after every update, the others continue without a silent one. This is a program of
// its own, because its processes do not communicate afterwards.
#include <netuit/graph/topologies.hpp>
#include <netuit/run/modes.hpp>
#include <netuit/run/run.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"

using namespace netuit;
using namespace std::chrono_literals;
using uit::testing::MpiTestWorld;

namespace {

/// Contents of a message: the sending process, in the upper bits, and the number of its update.
constexpr std::uint64_t process_unit = std::uint64_t{1} << 48;

/// Reads a small number from the environment.
int Variable(const char* name, int otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::atoi(value);
}

/// The newest messages of other processes that continue.
struct Newest {
  std::atomic<std::uint64_t> early{0};
  std::atomic<std::uint64_t> late{0};
};

}  // namespace

TEST_CASE("A run whose barrier gives up a silent process continues to its end and names the process") {
  const Topology topology = MakeTorus(8, 8);
  const std::size_t size = MpiTestWorld().Size();
  const std::size_t rank = MpiTestWorld().Rank();
  const std::size_t last = size - 1;
  const auto mode = static_cast<AsyncMode>(Variable("UIT_TEST_MODE", 1));
  Mesh mesh{uit::Team{MpiTestWorld(), {.threads = 2}}, topology,
            {.placement = PlaceContiguous(topology, {.processes = size, .threads = 2})}};
  const auto said = mesh.AddPublishedField<std::uint64_t>();
  std::vector<std::string> warnings;
  RunOptions options{.peer_timeout = 1s};
  options.on_warning = [&](const std::string& words) { warnings.push_back(words); };
  ModeSettings settings{.duration = 4s, .span = 1ms, .period = 5ms};
  if (Variable("UIT_TEST_SLACK", 0) != 0) settings.slack = 2;
  const std::uint64_t last_update = settings.slack ? 0 : 5;  // with slack, the silent process has not sent anything yet
  Newest newest;
  const auto begin = std::chrono::steady_clock::now();
  const auto update = [&](Node& node) {
    if (node.Id() == 63 && node.Update() == last_update) std::this_thread::sleep_for(7s);
    said[node] = rank * process_unit + node.Update();
    auto& heard = std::chrono::steady_clock::now() - begin < 2500ms ? newest.early : newest.late;
    for (const auto edge : node.In()) {
      const std::uint64_t from = said[edge] / process_unit;
      const std::uint64_t number = said[edge] % process_unit;
      if (from != rank && from != last && number > heard.load()) heard = number;
    }
  };
  const RunReport report = mesh.Run(ScheduleOf(mode, settings), update, options);
  const auto elapsed = std::chrono::steady_clock::now() - begin;
  CHECK(report.ExitCode() == 3);
  CHECK_FALSE(mesh.IsOpen());
  if (rank == last) return;
  CHECK(elapsed >= 4s);
  CHECK_FALSE(warnings.empty());
  REQUIRE(report.workers.size() == 2);
  for (const WorkerReport& worker : report.workers) CHECK(worker.num_updates > 100);
  // the remaining processes still communicate
  if (size > 2 && mode != AsyncMode::no_communication) CHECK(newest.late > newest.early);
  // Over MPI, the process that others wait for may itself wait. A process is named only if it is silent.
  const bool is_told = size == 2 || Variable("UIT_SHARED_MEMORY", 1) != 0;
  CHECK(report.lost_peers == (is_told ? std::vector{last} : std::vector<std::size_t>{}));
  CHECK((!is_told || report.message.find("no word from rank " + std::to_string(last)) != std::string::npos));
}
