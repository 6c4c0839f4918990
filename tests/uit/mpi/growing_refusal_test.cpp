// What is under way between processes is bounded: a conduit that keeps every message refuses what it has no room for.
#include <uit/conduit.hpp>
#include <uit/transport/process.hpp>

constexpr uit::Policy growing{.backlog = uit::Backlog::grow};

int main() {
  uit::Fabric fabric;
  auto [inlet, outlet] = uit::Conduit<int, growing>{uit::Process{.fabric = &fabric}};
  return inlet.TryPut(1) ? outlet.JumpGet() : 0;
}
