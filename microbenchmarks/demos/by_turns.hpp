#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <mpi.h>

#include <uit/support/clock.hpp>

#include "microbenchmarks/support/contest.hpp"

namespace bench {

/// Makes the object at the first call, so that a figure that nobody wants costs nothing.
template <typename Make>
class Lazy {
 public:
  using Object = typename std::invoke_result_t<Make>::element_type;
  explicit Lazy(Make make) : make_{std::move(make)} {}
  Object& operator*() {
    if (!object_) object_ = make_();
    return *object_;
  }

 private:
  Make make_;
  std::unique_ptr<Object> object_{};
};
/// `make` returns a std::unique_ptr.
template <typename Make>
std::shared_ptr<Lazy<Make>> MakeLazy(Make make) {
  return std::make_shared<Lazy<Make>>(std::move(make));
}

/// Adds a competitor of ranks: `work()` does a piece of work of `num_items` items, which all ranks do together. `find_fault()` says
/// what is wrong with the result, or nothing; a fault ends the program. Both are collective.
template <std::invocable Work, std::invocable FindFault>
void AddWork(Contest& contest, const std::string& name, std::uint64_t num_items, Work work, FindFault find_fault) {
  contest.Add(name, [name, num_items, work, find_fault](const Load& load) {
    const std::uint64_t num_times = std::max<std::uint64_t>(1, load.count / num_items);
    std::chrono::duration<double, std::nano> time{0};
    for (std::uint64_t i = 0; i < num_times; ++i) {
      MPI_Barrier(MPI_COMM_WORLD);
      const uit::TimePoint start = uit::Now();
      work();
      MPI_Barrier(MPI_COMM_WORLD);
      time += uit::Now() - start;
      if (const std::string fault = find_fault(); !fault.empty()) {
        std::fprintf(stderr, "%s: %s\n", name.c_str(), fault.c_str());
        MPI_Abort(MPI_COMM_WORLD, 1);
      }
    }
    return time.count() / static_cast<double>(num_times * num_items);
  });
}

}  // namespace bench
