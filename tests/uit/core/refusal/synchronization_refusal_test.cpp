// A synchronisation without atomics is refused.
#include <uit/duct/ring_duct.hpp>
struct Hope {
  static constexpr bool concurrent = true;
  static constexpr std::size_t alignment = 1;
};
uit::RingDuct<int, Hope> ring{2};
