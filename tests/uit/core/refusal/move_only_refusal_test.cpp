// A message that cannot be copied must be put by move.
#include <memory>
#include <uit/uit.hpp>
void Run() {
  auto [inlet, outlet] = uit::Conduit<std::unique_ptr<int>>{uit::Thread{}};
  const auto message = std::make_unique<int>(1);
  inlet.TryPut(message);
}
