#include "work.hpp"

#include <cstdint>

namespace bench::task_graphs {

std::uint64_t Work(std::uint64_t sum, std::uint64_t num_steps) {
  double value = static_cast<double>(sum % 1024);
  for (std::uint64_t i = 0; i < num_steps; ++i) value = value * 0.75 + 0.25;
  const std::uint64_t beyond = value > 1024 ? 1 : 0;  // never, but the compiler cannot know
  return ((sum ^ (sum >> 29)) + beyond) * 0x9e3779b97f4a7c15U;
}

}  // namespace bench::task_graphs
