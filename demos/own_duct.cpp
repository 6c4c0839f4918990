// A duct of your own: it refuses every third message, to test how a program copes.

#include <algorithm>
#include <cstddef>
#include <deque>
#include <iostream>
#include <utility>

#include <uit/uit.hpp>

// A duct puts, steps and gets. It derives from RefCounted, because its two ends share it.
template <uit::Message T>
class LossyDuct : public uit::RefCounted {
 public:
  explicit LossyDuct(T initial) : current_{std::move(initial)} {}
  bool TryPut(const T& message) {
    if (++num_puts_ % 3 == 0) return false;
    waiting_.push_back(message);
    return true;
  }
  std::size_t TryStep(std::size_t limit) {
    const std::size_t count = std::min(limit, waiting_.size());
    for (std::size_t i = 0; i < count; ++i) {
      current_ = waiting_.front();
      waiting_.pop_front();
    }
    return count;
  }
  const T& Get() const { return current_; }

 private:
  std::deque<T> waiting_;
  T current_;
  int num_puts_ = 0;
};
static_assert(uit::Duct<LossyDuct<int>, int>);

// A transport names its duct for a message type and a policy, and opens it.
struct Lossy {
  template <uit::Message T, uit::Policy policy>
  using InletDuctFor = LossyDuct<T>;
  template <uit::Message T, uit::Policy policy>
  using OutletDuctFor = LossyDuct<T>;
  template <uit::Message T, uit::Policy policy>
  auto OpenPair(T initial) const {
    const auto duct = uit::MakeRef<LossyDuct<T>>(std::move(initial));
    return std::pair{duct, duct};
  }
};

// A transport set lists the transports that may join two ends. A splice changes from one to another.
using MyTransports = uit::TransportSet<uit::Intra, Lossy>;

int main() {
  auto [inlet, outlet] = uit::Conduit<int, uit::Policy{}, MyTransports>{uit::Intra{.depth = 16}};
  for (int i = 1; i <= 3; ++i) inlet.TryPut(i);
  uit::Splice(inlet, outlet, Lossy{});  // carries the three waiting messages to the new duct, which refuses the third
  for (int i = 4; i <= 9; ++i) inlet.TryPut(i);
  while (outlet.TryStep()) std::cout << outlet.Get() << ' ';
  std::cout << "came through; dropped " << inlet.Tally().dropped << ", unread "
            << outlet.Tally().unread << '\n';
}
