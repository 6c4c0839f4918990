// Runs of a team whose members keep their conduits.
#include <uit/team/team_session.hpp>

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <uit/team/member.hpp>
#include <uit/team/team.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/support/thrown.hpp"
#include "tests/uit/team/members.hpp"

using namespace uit;
using namespace uit::testing;

namespace {

struct Ring {
  explicit Ring(Member& me) : to(me.InletTo<int>(me.Right())), from(me.OutletFrom<int>(me.Left())) { me.Connect(); }
  MemberInlet<int> to;
  MemberOutlet<int> from;
};

/// Sends a number to the right, and returns what comes from the left.
int PassOn(Member& me, Ring& ring, int number) {
  me.WaitUntil([&] { return ring.to.TryPut(number); });
  std::optional<int> got;
  me.WaitUntil([&] { return (got = ring.from.TryTake()).has_value(); });
  return *got;
}

}  // namespace

TEST_CASE("Members and their conduits stay from one run of a session to the next, whatever else the team does") {
  const Team team{MpiTestWorld(), {.threads = 2}};
  TeamSession session{team};
  std::vector<std::optional<Ring>> rings(2);
  std::vector<const Member*> members(2);
  Checks checks;
  for (int run = 0; run < 20; ++run) {
    session.Run([&](Member& me) {
      if (run == 0) rings[me.Thread()].emplace(me);
      THAT(run == 0 || members[me.Thread()] == &me);
      members[me.Thread()] = &me;
      const int from = PassOn(me, *rings[me.Thread()], 100 * run + static_cast<int>(me.Rank()));
      THAT(from == 100 * run + static_cast<int>(me.Left()));
      THAT(me.AllReduce(1, std::plus<>{}) == static_cast<int>(me.Size()));
    });
    if (run % 5 == 3) team.Run([&](Member& me) { THAT(me.AllReduce(2, std::plus<>{}) == 2 * static_cast<int>(me.Size())); });
  }
}

TEST_CASE("If a run of a session fails, all processes throw, and the next run has new members") {
  const Team team{MpiTestWorld(), {.threads = 2}};
  TeamSession session{team};
  for (int round = 0; round < 3; ++round) {
    std::vector<std::optional<Ring>> rings(2);
    Checks checks;
    session.Run([&](Member& me) {
      rings[me.Thread()].emplace(me);
      THAT(PassOn(me, *rings[me.Thread()], 7) == 7);
      me.Barrier();
    });
    const std::string failure = WordsThrownBy([&] {
      session.Run([&](Member& me) {
        if (me.Rank() == me.Size() - 1) throw std::runtime_error("a member fails");
        me.Barrier();
      });
    });
    const bool is_last = MpiTestWorld().Rank() + 1 == MpiTestWorld().Size();
    INFO(failure);
    CHECK((is_last ? failure == "a member fails" : failure.ends_with("failed")));
    CHECK_THROWS(team.Run([&](Member&) { session.Run([](Member&) {}); }));
  }
}
