// Two short runs on as many threads as the first argument says, of a mesh or, with a second argument, of the team alone. See
// traps_test.cmake.
#include <cstdint>
#include <cstdlib>

#include <netuit/netuit.hpp>
#include <uit/team/member.hpp>

int main(int argc, char** argv) {
  const auto threads = static_cast<std::uint32_t>(argc > 1 ? std::atoi(argv[1]) : 1);
  return netuit::Main(argc, argv, {.threads = threads}, [&](uit::Team& team) {
    int code = 0;
    for (int run = 0; run < 2 && argc > 2; ++run) code |= team.Run([](uit::Member&) {});
    for (int run = 0; run < 2 && argc <= 2; ++run) {
      netuit::Mesh mesh{team, netuit::Torus(4, 4)};
      const auto report = mesh.Run(netuit::EveryUpdate{.updates = 10}, [](netuit::Node&) {});
      report.Print();
      code |= report.ExitCode();
    }
    return code;
  });
}
