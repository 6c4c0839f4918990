// A duct that gets by value, which no reference can outlive.
#include <cstddef>
#include <uit/duct/duct.hpp>
struct Fleeting {
  bool TryPut(int) { return true; }
  std::size_t TryStep(std::size_t) { return 0; }
  int Get() const { return 0; }
};
static_assert(uit::OutletDuct<Fleeting, int>);
