// Kuramoto's oscillators on a small world: each turns at its own speed, and is drawn to the phases of its neighbours.
//
//     kuramoto [FOLDER]                  two threads
//     mpirun -n 2 kuramoto [FOLDER]      two processes with two threads each
//
// An oscillator uses the newest phases that it has, at most 6 updates old. Writes phases.npy to FOLDER, consistent copies of all
// phases: numpy.load("phases.npy")[frame, oscillator].
#include <cmath>
#include <complex>
#include <cstdio>
#include <string>
#include <vector>

#include <netuit/netuit.hpp>

/// 1 if all phases are equal, near 0 if they are spread evenly.
double Order(const std::vector<double>& phases) {
  std::complex<double> sum = 0;
  for (const double phase : phases) sum += std::polar(1.0, phase);
  return phases.empty() ? 0 : std::abs(sum) / static_cast<double>(phases.size());
}

int main(int argc, char** argv) {
  return netuit::Main(argc, argv, {.threads = 2}, [&](uit::Team& team) {
    netuit::Mesh mesh{team, netuit::MakeSmallWorld(400, 8, 0.3, 1)};
    const auto draw = [](netuit::NodeId id, std::uint64_t number) { return netuit::NodeRandom(7, id, number).Uniform(); };
    auto speed = mesh.AddField<double>([&](netuit::NodeId id) { return draw(id, 0) - 0.5; });
    auto phase = mesh.AddPublishedField<double>([&](netuit::NodeId id) { return 6.283 * draw(id, 1); });
    const double before = Order(mesh.Gather(phase));
    auto film = mesh.Capture(phase, {.every = 10, .most = 60});
    const auto report = mesh.Run(netuit::Free{.updates = 600, .slack = 5}, [&](netuit::Node& node) {
      double pull = 0;
      for (auto edge : node.In()) pull += std::sin(phase[edge] - phase[node]);
      phase[node] += 0.05 * (speed[node] + 0.25 * pull);
    });
    if (argc > 1) film.Save(std::string(argv[1]) + "/phases.npy");
    const double after = Order(mesh.Gather(phase));
    if (team.IsRoot()) std::printf("order parameter: %.2f at first, %.2f at last\n", before, after);
    report.Print();
    return report.ExitCode();
  });
}
