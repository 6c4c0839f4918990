// A duct whose TryPut returns nothing is refused.
#include <cstddef>
#include <uit/duct/duct.hpp>
struct Silent {
  void TryPut(int) {}
  std::size_t TryStep(std::size_t) { return 0; }
  const int& Get() const { return value; }
  int value = 0;
};
static_assert(uit::Duct<Silent, int>);
