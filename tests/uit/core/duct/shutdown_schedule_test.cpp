// One end is destroyed while the other is in use. The last end destroys the duct, and the other end does not touch it any
// more.
#include <array>
#include <cstddef>
#include <string>
#include <type_traits>

#include <uit/duct/accumulator_duct.hpp>
#include <uit/duct/mailbox_duct.hpp>
#include <uit/duct/queue_duct.hpp>
#include <uit/duct/ring_duct.hpp>
#include <uit/support/ref.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/explored_atomic.hpp"
#include "tests/support/schedule_count.hpp"
#include "tests/support/schedule_explorer.hpp"
#include "tests/support/watched.hpp"
#include "tests/uit/core/support/duct_scenarios.hpp"

namespace {

using namespace uit::testing;

/// Counts its living instances, and is watched.
class Mortal {
 public:
  Mortal(int value = 0) : value_{value} { ++NumAlive(); }  // NOLINT: a number is a message
  Mortal(const Mortal& other) : value_{other.value_} { ++NumAlive(); }
  Mortal& operator=(const Mortal&) = default;
  ~Mortal() { --NumAlive(); }

  int Value() const { return value_.Value(); }
  bool TryFold(const Mortal& other) {
    value_ = Watched{Value() + other.Value()};
    return true;
  }
  static int& NumAlive() {
    static int num_alive = 0;
    return num_alive;
  }

 private:
  Watched value_;
};

enum class Goes { inlet, outlet, both };

/// One thread puts, the other steps, and one or both destroy their end. Neither waits.
template <typename Duct, Goes goes, int num_puts, int num_steps>
struct Departure {
  std::array<uit::Ref<Duct>, 2> ends;
  int sum_put = 0;
  int sum_seen = 0;

  Departure() {
    Mortal::NumAlive() = 0;
    if constexpr (std::is_constructible_v<Duct, std::size_t>)
      ends[0] = uit::Ref<Duct>{new Duct(1)};  // the first batch of puts fills it
    else
      ends[0] = uit::Ref<Duct>{new Duct};
    ends[1] = ends[0];
  }

  void Run(std::size_t thread) {
    if (thread == 0) {
      for (int i = 0; i < num_puts; ++i) sum_put += ends[0]->TryPut(Mortal{1 << i}) ? 1 << i : 0;
      if constexpr (goes != Goes::outlet) Drop(0);
    } else {
      for (int i = 0; i < num_steps; ++i) Step();
      if constexpr (goes == Goes::inlet) {
        if (ends[1]->IsClosed()) ExpectAll();
      }
      if constexpr (goes != Goes::inlet) Drop(1);
    }
  }

  void Finish() {
    if constexpr (goes == Goes::inlet) ExpectAll();
    ends = {};
    Explorer::Expect(Mortal::NumAlive() == 0, "the duct outlives its ends");
  }

  /// The outlet finds all that the inlet, which is gone, has put.
  void ExpectAll() {
    while (Step() > 0) {
    }
    constexpr bool keeps_latest = requires(Duct& duct) { duct.Pending(); };
    if constexpr (keeps_latest)
      Explorer::Expect(ends[1]->Get().Value() == 1 << (num_puts - 1), "the newest message went with its inlet");
    else
      Explorer::Expect(sum_seen == sum_put, "a message went with its inlet");
  }
  std::size_t Step() {
    const std::size_t count = ends[1]->TryStep(1);
    if (count > 0) sum_seen += ends[1]->Get().Value();
    return count;
  }
  void Drop(std::size_t end) {
    const Explorer::Unbroken unbroken;
    ends[end] = {};
  }
};

template <Goes goes>
using Ring = Departure<uit::RingDuct<Mortal, Explored>, goes, 2, 2>;
template <Goes goes>
using Queue = Departure<uit::QueueDuct<Mortal, Explored>, goes, 3, 2>;
template <Goes goes>
using Mailbox = Departure<uit::MailboxDuct<Mortal, Explored>, goes, 2, 2>;
template <Goes goes>
using Accumulator = Departure<uit::AccumulatorDuct<Mortal, Explored>, goes, 2, 2>;

template <Goes goes>
void CheckDepartures(const std::string& who) {
  CheckExhausted<Ring<goes>>("ring, " + who);
  CheckExhausted<Queue<goes>>("queue, " + who);
  CheckExhausted<Mailbox<goes>>("mailbox, " + who);
  CheckExhausted<Accumulator<goes>>("accumulator, " + who);
}

}  // namespace

TEST_CASE("No schedule makes the end of one side lose a message, leak the duct, or free it in use") {
  CheckDepartures<Goes::inlet>("inlet goes");
  CheckDepartures<Goes::outlet>("outlet goes");
  CheckDepartures<Goes::both>("both go");
}
