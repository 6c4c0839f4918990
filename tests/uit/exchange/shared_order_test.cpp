// Two processes that share memory, of which one puts and the other steps: every order of their calls, for every exchange that
// keeps the latest message. (What happens within a call is explored by schedule_test.)

#include <cstddef>
#include <cstdint>

#include "tests/support/catch.hpp"
#include "tests/support/event_orders.hpp"
#include "tests/uit/exchange/support/subjects.hpp"

using namespace uit;
using namespace uit::testing;

namespace {

constexpr int num_puts = 5;
constexpr int num_steps = 4;

/// Puts 1, 2, … and steps, in any order. A message is never older than the one before; with `at_once`, it is the newest that
/// was put; after the last step it is the last.
template <typename Subject, bool at_once>
class Scenario {
 public:
  std::size_t NumEvents() const { return (num_put_ < num_puts ? 1U : 0U) + (num_stepped_ < num_steps ? 1U : 0U); }
  void Do(std::size_t n) {
    if (n == 0 && num_put_ < num_puts) {
      REQUIRE(pair_.TryPut(++num_put_));
    } else {
      ++num_stepped_;
      Step();
    }
  }
  void Finish() {
    if (!at_once) pair_.Settle();
    Step();
    REQUIRE(pair_.Get() == num_puts);
    const Tally tally = pair_.Tally();
    REQUIRE(tally.put.attempted == num_puts);
    REQUIRE(tally.put.dropped == 0);
    REQUIRE(tally.get.stepped == num_new_);
    REQUIRE(tally.Balanced());
  }

 private:
  void Step() {
    const int before = pair_.Get();
    const bool is_new = pair_.TryStep(1) == 1;
    num_new_ += is_new ? 1 : 0;
    REQUIRE(is_new == (pair_.Get() > before));
    REQUIRE(pair_.Get() >= before);
    REQUIRE(pair_.Get() <= num_put_);
    if (at_once) REQUIRE(pair_.Get() == num_put_);
  }

  typename Subject::template Pair<int> pair_{2};
  int num_put_ = 0;
  int num_stepped_ = 0;
  std::uint64_t num_new_ = 0;  // steps that found a message
};

template <typename Subject, bool at_once>
void TryAllOrders() {
  const std::uint64_t num_orders = ForEachOrder([] { return Scenario<Subject, at_once>(); }, 1000);
  CHECK(num_orders == 126);  // of five puts and four steps
}

}  // namespace

TEST_CASE("Through shared memory the newest message arrives for every order of puts and steps") {
  SECTION("a conduit by itself") { TryAllOrders<ExchangeSubject<latest, ToNear>, true>(); }
  SECTION("pooled") { TryAllOrders<ExchangeSubject<latest_pooled, ToNear>, true>(); }
  SECTION("aggregated: a window of frames may delay it") { TryAllOrders<ExchangeSubject<latest_aggregated, ToNear>, false>(); }
  SECTION("rows of several lengths") { TryAllOrders<RowSubject<latest_aggregated, ToNear>, false>(); }
}
