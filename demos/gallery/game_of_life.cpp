// Conway's game of life on a torus: every cell looks at its eight neighbours as they were after the previous update.
//
//     game_of_life [FOLDER]                  two threads
//     mpirun -n 2 game_of_life [FOLDER]      two processes with two threads each
//
// Writes life.npy to FOLDER: numpy.load("life.npy")[frame, cell], a frame for every tenth update. The result is the same on any
// layout.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <netuit/netuit.hpp>

constexpr netuit::NodeId side = 64;

/// A torus in which each cell has edges to its eight neighbours.
netuit::Topology MakeBoard() {
  std::vector<netuit::Edge> edges;
  for (netuit::NodeId cell = 0; cell < side * side; ++cell) {
    for (netuit::NodeId step = 0; step < 9; ++step) {
      const netuit::NodeId row = (cell / side + step / 3 + side - 1) % side, column = (cell % side + step % 3 + side - 1) % side;
      if (step != 4) edges.push_back({cell, row * side + column});
    }
  }
  return {side * side, std::move(edges)};
}

/// The R pentomino: five cells that take 1103 updates to come to rest on an endless board.
bool IsAliveAtFirst(netuit::NodeId cell) {
  const netuit::NodeId row = cell / side - side / 2, column = cell % side - side / 2;
  return (row == 0 && (column == 1 || column == 2)) || (row == 1 && (column == 0 || column == 1)) || (row == 2 && column == 1);
}

int main(int argc, char** argv) {
  return netuit::Main(argc, argv, {.threads = 2}, [&](uit::Team& team) {
    netuit::Mesh mesh{team, MakeBoard()};
    auto is_alive = mesh.AddPublishedField<std::uint8_t>([](netuit::NodeId cell) { return IsAliveAtFirst(cell) ? 1 : 0; });
    auto film = mesh.Capture(is_alive, {.every = 10, .most = 20});
    const auto report = mesh.Run(netuit::Dataflow{.updates = 200}, [&](netuit::Node& cell) {
      int num_alive = 0;
      for (auto edge : cell.In()) num_alive += is_alive[edge];
      is_alive[cell] = num_alive == 3 || (num_alive == 2 && is_alive[cell] == 1) ? 1 : 0;
    });
    if (argc > 1) film.Save(std::string(argv[1]) + "/life.npy");
    const auto board = mesh.Gather(is_alive);
    if (team.IsRoot()) std::printf("%td cells are alive after 200 updates\n", std::ranges::count(board, 1));
    return report.ExitCode();
  });
}
