// A duct whose Get returns by value is refused, because a reference to the message must stay valid.
#include <cstddef>
#include <uit/duct/duct.hpp>
struct Fleeting {
  bool TryPut(int) { return true; }
  std::size_t TryStep(std::size_t) { return 0; }
  int Get() const { return 0; }
};
static_assert(uit::OutletDuct<Fleeting, int>);
