// A transport whose duct cannot be shared by its ends is refused.
#include <cstddef>
#include <uit/uit.hpp>
struct Plain {
  bool TryPut(int) { return true; }
  std::size_t TryStep(std::size_t) { return 0; }
  const int& Get() const { return value; }
  int value = 0;
};
struct Mine {
  template <uit::Message T, uit::Policy policy>
  using InletDuctFor = Plain;
  template <uit::Message T, uit::Policy policy>
  using OutletDuctFor = Plain;
};
uit::TransportSet<Mine> wiring;
