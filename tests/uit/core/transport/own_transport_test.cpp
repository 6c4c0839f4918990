// What a user's own transport can do: ends of two kinds, hooks, and single halves.

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include <uit/uit.hpp>

#include "tests/support/catch.hpp"

using namespace std::chrono_literals;

namespace {

/// Shared by the two halves: a message in flight, which polling moves, and one that has arrived.
struct Line {
  std::optional<int> under_way, arrived;
  bool is_closed = false;
  int num_polls = 0;
  bool Move() {
    ++num_polls;
    if (!under_way || arrived) return false;
    arrived = std::exchange(under_way, std::nullopt);
    return true;
  }
};

struct LineInlet : uit::RefCounted {
  explicit LineInlet(std::shared_ptr<Line> l) : line{std::move(l)} {}
  bool TryPut(const int& message) {
    if (line->under_way) return false;
    line->under_way = message;
    return true;
  }
  bool Poll() { return line->Move(); }
  bool IsClosed() const { return line->is_closed; }
  std::shared_ptr<Line> line;
};

struct LineOutlet : uit::RefCounted {
  LineOutlet(std::shared_ptr<Line> l, int initial) : line{std::move(l)}, current{initial} {}
  std::size_t TryStep(std::size_t) {
    if (!line->arrived) return 0;
    current = *std::exchange(line->arrived, std::nullopt);
    return 1;
  }
  const int& Get() const { return current; }
  void Poll() { line->Move(); }
  bool IsClosed() const { return line->is_closed; }
  std::shared_ptr<Line> line;
  int current;
};

struct ByLine {
  std::shared_ptr<Line> line = std::make_shared<Line>();

  template <uit::Message T, uit::Policy policy>
  using InletDuctFor = LineInlet;
  template <uit::Message T, uit::Policy policy>
  using OutletDuctFor = LineOutlet;

  template <uit::Message T, uit::Policy policy>
  auto OpenPair(T initial) const {
    return std::pair{OpenInlet<T, policy>(), OpenOutlet<T, policy>(initial)};
  }
  template <uit::Message T, uit::Policy policy>
  auto OpenInlet() const {
    return uit::MakeRef<LineInlet>(line);
  }
  template <uit::Message T, uit::Policy policy>
  auto OpenOutlet(T initial) const {
    return uit::MakeRef<LineOutlet>(line, initial);
  }
};

using W = uit::TransportSet<uit::Intra, ByLine>;

}  // namespace

TEST_CASE("Waits poll a duct that needs it") {
  auto [inlet, outlet] = uit::Conduit<int, uit::Policy{}, W>{ByLine{}};
  CHECK(inlet.TryPut(1));
  CHECK_FALSE(inlet.TryPut(2));
  CHECK_FALSE(outlet.TryStep());
  CHECK(inlet.Put(2));  // the poll of this wait moves message 1 on
  CHECK(outlet.GetNext() == 1);
  CHECK(outlet.GetNext() == 2);
  CHECK_FALSE(outlet.Step(uit::After(1ms)));
}

TEST_CASE("A wait ends when the other side has closed") {
  ByLine by_line;
  auto [inlet, outlet] = uit::Conduit<int, uit::Policy{}, W>{by_line};
  inlet.Put(1);
  inlet.Put(2);
  by_line.line->is_closed = true;
  CHECK_FALSE(inlet.Put(3));
  CHECK(outlet.Step());
  by_line.line->under_way.reset();
  CHECK_FALSE(outlet.Step());
  CHECK(inlet.Tally().dropped == 1);
}

TEST_CASE("Halves are opened, spliced and restored by themselves") {
  ByLine by_line;
  uit::Inlet<int, uit::Policy{}, W> inlet{by_line};
  uit::Outlet<int, uit::Policy{}, W> outlet{by_line, 42};
  CHECK(outlet.Get() == 42);
  CHECK(inlet.TryPut(1));
  CHECK(outlet.GetNext() == 1);
  inlet.TryPut(2);
  uit::Splice(inlet, uit::Null{});
  CHECK_FALSE(inlet.TryPut(3));
  uit::Splice(outlet, uit::Null{});
  CHECK(outlet.Get() == 1);
  CHECK(outlet.Tally().unread == 1);
  uit::Splice(inlet, ByLine{});
  CHECK(inlet.TryPut(4));
}

TEST_CASE("A pair is spliced to a transport of two halves and back, and waits for messages in flight") {
  auto [inlet, outlet] = uit::Conduit<int, uit::Policy{}, W>{uit::Intra{}};
  inlet.TryPut(1);
  inlet.TryPut(2);
  uit::Splice(inlet, outlet, ByLine{});
  CHECK(outlet.Tally().unread == 1);
  CHECK(outlet.GetNext() == 1);
  inlet.Put(3);
  inlet.Put(4);
  uit::Splice(inlet, outlet, uit::Intra{});
  CHECK(outlet.Get() == 1);
  CHECK(outlet.GetNext() == 3);
  CHECK(outlet.GetNext() == 4);
  uit::Tally tally;
  tally += inlet.Tally();
  tally += outlet.Tally();
  CHECK(tally.Balanced());
}
