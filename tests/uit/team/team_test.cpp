// Teams of several hosts, and what a faulty member or host can bring, without MPI.
#include <uit/team/member.hpp>

#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <uit/exchange/fabric.hpp>
#include <uit/inlet.hpp>
#include <uit/link/frame.hpp>
#include <uit/outlet.hpp>
#include <uit/support/clock.hpp>
#include <uit/tally.hpp>
#include <uit/team/core_spread.hpp>
#include <uit/team/host_rounds.hpp>
#include <uit/team/joints.hpp>
#include <uit/team/round_board.hpp>
#include <uit/team/team.hpp>
#include <uit/transport/process.hpp>
#include <uit/transport/transport_set.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/loopback_world.hpp"
#include "tests/support/thrown.hpp"
#include "tests/uit/core/support/sanitized.hpp"
#include "tests/uit/team/members.hpp"

using namespace uit;
using namespace uit::testing;

TEST_CASE("Collective calls work on any number of hosts, processes and threads") {
  struct Layout {
    std::size_t processes, per_host;
    std::uint32_t threads;
  };
  for (const Layout& layout : {Layout{1, 1, 4}, Layout{2, 1, 1}, Layout{3, 1, 1}, Layout{4, 2, 1}, Layout{5, 1, 1}, Layout{6, 2, 2},
                               Layout{7, 3, 1}, Layout{9, 1, 1}}) {
    INFO(layout.processes << " processes, " << layout.per_host << " per host, " << layout.threads << " threads");
    LoopbackNetwork network{layout.processes, layout.per_host};
    Checks checks;
    network.Together([&](std::size_t rank) {
      const Team team{network.World(rank), {.threads = layout.threads}};
      team.Run([&](Member& me) {
        CheckValues(me, checks);
        for (const std::size_t count : {1UL, 1000UL, 20'000UL}) CheckSpans(me, count, checks);
        Member part = me.Split(static_cast<std::int64_t>(me.Rank() % 3));
        CheckValues(part, checks);
        me.Barrier();
      });
    });
  }
}

TEST_CASE("No member leaves a barrier before all members of all hosts have come") {
  LoopbackNetwork network{4, 2};
  std::atomic<std::size_t> num_come{0};  // these processes are threads of one, so they share it
  network.Together([&](std::size_t rank) {
    const Team team{network.World(rank), {.threads = 2}};
    team.Run([&](Member& me) {
      for (std::size_t round = 1; round <= (is_slow_build ? 300 : 2000); ++round) {
        if (round % me.Size() == me.Rank()) std::this_thread::sleep_for(std::chrono::microseconds(20));  // comes last
        ++num_come;
        me.Barrier();
        if (num_come < round * me.Size()) throw std::logic_error("a member has left a barrier too early");
      }
    });
  });
}

TEST_CASE("The memory of a group is given back at the next split after its last member has gone, or when the run ends") {
  LoopbackNetwork network{4, 2};
  Checks checks;
  network.Together([&](std::size_t rank) {
    const Team team{network.World(rank), {.threads = 2}};
    team.Run([&](Member& me) {
      const auto num_ended = [&] {  // splits; each process releases the world of each
        me.Barrier();
        const std::size_t num_released = network.NumReleased();
        me.Barrier();
        return num_released / network.Size();
      };
      Member kept = me.Split(static_cast<std::int64_t>(me.Rank() % 2));
      for (std::size_t round = 0; round < 5; ++round) {
        Member half = me.Split(static_cast<std::int64_t>(me.Rank() % 2));
        THAT(num_ended() == 2 * round);
        const Member quarter = half.Split(static_cast<std::int64_t>(half.Rank() % 2));
        THAT(num_ended() == 2 * round);
        THAT(half.AllReduce(1, std::plus<>{}) == static_cast<int>(half.Size()));
      }
      THAT(kept.AllReduce(1, std::plus<>{}) == static_cast<int>(kept.Size()));
    });
  });
  CHECK(network.NumReleased() == (1 + 1 + 2 * 5) * network.Size());  // with that of the team
}

TEST_CASE("A member's put that fails counts once and leaves the message, and a wait ends if the other side is gone") {
  Checks checks;
  Team{}.Run([&](Member& me) {
    auto inlet = me.InletTo<std::vector<int>>(0, {.depth = 1});
    std::optional outlet = me.OutletFrom<std::vector<int>>(0, {.depth = 1});
    me.Connect();
    THAT(!me.Step(*outlet, After(std::chrono::milliseconds(1))));
    std::vector<int> message(7, 1);
    THAT(me.Put(inlet, message));
    THAT(!me.Put(inlet, message, After(std::chrono::milliseconds(1))));
    THAT(!me.Put(inlet, std::move(message), After(std::chrono::milliseconds(1))));
    THAT(message.size() == 7);
    THAT(inlet.Tally() == (PutTally{.attempted = 3, .dropped = 2}));
    THAT(me.Step(*outlet));
    THAT(outlet->Get() == message);
    outlet.reset();
    THAT(me.Put(inlet, {2}));
    THAT(!me.Put(inlet, {3}));
    THAT(inlet.Tally() == (PutTally{.attempted = 5, .dropped = 3}));
  });
}

TEST_CASE("The numbers of a message that is put by moving stay where they are between two threads") {
  constexpr int num_messages = 100;
  std::array<std::atomic<const double*>, num_messages> places{};
  Checks checks;
  Team{{}, {.threads = 2}}.Run([&](Member& me) {
    if (me.IsRoot()) {
      auto inlet = me.InletTo<std::vector<double>>(1, {.depth = 4});
      me.Connect();
      for (auto& place : places) {
        std::vector<double> numbers(1000, 1.0);
        place = numbers.data();
        THAT(me.Put(inlet, std::move(numbers)));
      }
      me.Barrier();
    } else {
      auto outlet = me.OutletFrom<std::vector<double>>(0, {.depth = 4});
      me.Connect();
      for (int i = 0; i < num_messages; ++i) {
        THAT(me.Step(outlet));
        THAT(outlet.Get().data() == places[static_cast<std::size_t>(i)]);
      }
      me.Barrier();
    }
  });
}

TEST_CASE("The conduits of members whose process does not close them are given up at the deadline") {
  using W = TransportSet<Process>;
  const bool do_both_close = GENERATE(true, false);
  LoopbackNetwork network{2, 1};
  std::array<std::unique_ptr<detail::Joints>, 2> joints;
  Inlet<int, Policy{}, W> inlet;
  Outlet<int, Policy{}, W> outlet;
  network.Together([&](std::size_t rank) {
    joints[rank] = std::make_unique<detail::Joints>(network.World(rank), 1U, true);
    joints[rank]->JoinAcross(0, 1, rank == 0, [&](Fabric& fabric, std::uint64_t) {
      const Process reach{.fabric = &fabric, .peer = 1 - rank};
      if (rank == 0) inlet = Inlet<int, Policy{}, W>{reach};
      else outlet = Outlet<int, Policy{}, W>{reach};
    });
    joints[rank]->Connect();
  });
  std::array<bool, 2> is_clean{};
  if (do_both_close) network.Together([&](std::size_t rank) { is_clean[rank] = joints[rank]->Close(After(std::chrono::seconds(10))); });
  else is_clean[0] = joints[0]->Close(After(std::chrono::milliseconds(20))), is_clean[1] = joints[1]->Close(Now());
  CHECK(is_clean == std::array{do_both_close, do_both_close});
}

TEST_CASE("A thread that is moved to a core goes on there") {
  cpu_set_t allowed;
  REQUIRE(::sched_getaffinity(0, sizeof allowed, &allowed) == 0);
  std::size_t position = 0;
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &allowed)) continue;
    int num_there = 0;
    for (int i = 0; i < 100; ++i) {
      MoveToCore(position);
      num_there += ::sched_getcpu() == static_cast<int>(core) ? 1 : 0;  // unless the system has moved it on since
    }
    CHECK(num_there > 50);
    ++position;
  }
  cpu_set_t after;
  REQUIRE(::sched_getaffinity(0, sizeof after, &after) == 0);
  CHECK(CPU_EQUAL(&allowed, &after) != 0);
}

TEST_CASE("Threads have a core each only if the processes of the host together have enough") {
  CHECK(HasCoreForEach(World{}, 1) == (NumUsableCores() >= 1));
  CHECK(HasCoreForEach(World{}, NumUsableCores()) == (NumUsableCores() <= NumCores()));
  CHECK_FALSE(HasCoreForEach(World{}, NumUsableCores() + 1));
  CHECK_FALSE(HasCoreForEach(World{}, NumCores() + 1));
  LoopbackNetwork near{2, 2};
  CHECK_FALSE(HasCoreForEach(near.World(0), NumCores() / 2 + 1));  // each alone may have enough
}

TEST_CASE("The same threads serve all runs of a team, and the first of them is the one that calls") {
  const Team team{World{}, {.threads = 4}};
  std::array<std::array<std::thread::id, 4>, 3> threads_of_run;
  for (auto& threads : threads_of_run) team.Run([&](Member& me) { threads[me.Rank()] = std::this_thread::get_id(); });
  CHECK(threads_of_run[0][0] == std::this_thread::get_id());
  CHECK(std::set(threads_of_run[0].begin(), threads_of_run[0].end()).size() == 4);
  CHECK(threads_of_run[1] == threads_of_run[0]);
  CHECK(threads_of_run[2] == threads_of_run[0]);
}

TEST_CASE("If a member of one host throws, those of all hosts notice") {
  for (std::size_t culprit = 0; culprit < 5; ++culprit) {
    LoopbackNetwork network{5, 2};
    std::atomic<int> num_told{0};
    network.Together([&](std::size_t rank) {
      const Team team{network.World(rank)};
      try {
        team.Run([&](Member& me) {
          me.Barrier();
          if (me.Rank() == culprit) throw std::runtime_error("the culprit");
          for (;;) me.Barrier();
        });
      } catch (const std::exception& error) {
        const bool is_own = rank == culprit;
        if (error.what() == (is_own ? "the culprit" : "rank " + std::to_string(culprit) + " failed")) ++num_told;
      }
      if (team.Run([](Member& me) { return static_cast<int>(me.AllReduce(1, std::plus<>{})); }) == 5) ++num_told;
    });
    CHECK(num_told == 10);
  }
}

TEST_CASE("A member that throws ends the waits of all others, whatever they wait for and on whatever host") {
  // A process that is told finds none of its members in a collective call. Some have nothing more to do.
  using Wait = std::function<void(Member&)>;
  const Wait waits = [](Member& me) { me.WaitUntil([] { return false; }); };
  const Wait looks = [](Member& me) {
    while (true) me.CheckStays((me.Rank() + 2) % me.Size());  // on another host
  };
  for (const auto& [num_processes, per_host] : {std::pair<std::size_t, std::size_t>{5, 2}, {4, 1}, {7, 1}}) {
    for (const Wait& wait : {waits, looks}) {
      for (std::size_t culprit = 0; culprit < num_processes; culprit += per_host == 1 ? 3 : 1) {
        LoopbackNetwork network{num_processes, per_host};
        std::atomic<std::size_t> num_told{0};
        network.Together([&](std::size_t rank) {
          const Team team{network.World(rank)};
          const std::string words = WordsThrownBy([&] {
            team.Run([&](Member& me) {
              me.Barrier();
              if (me.Rank() == culprit) throw std::runtime_error("the culprit");
              if (me.Rank() % 4 == 1 || me.Rank() == 4) wait(me);  // leaders hear what these do not
            });
          });
          if (words == (rank == culprit ? "the culprit" : "rank " + std::to_string(culprit) + " failed")) ++num_told;
          if (team.Run([](Member& me) { return static_cast<int>(me.AllReduce(1, std::plus<>{})); }) == static_cast<int>(team.NumProcesses()))
            ++num_told;
        });
        CHECK(num_told == 2 * network.Size());
      }
    }
  }
}

TEST_CASE("A member that has lost a process ends the run of all with that loss, also through threads of the same process") {
  for (const auto& [num_processes, per_host] : {std::pair<std::size_t, std::size_t>{2, 2}, {3, 1}, {4, 2}}) {
    for (std::size_t finder = 0; finder < 2 * num_processes; finder += num_processes - 1) {
      LoopbackNetwork network{num_processes, per_host};
      std::atomic<std::size_t> num_told{0};
      network.Together([&](std::size_t rank) {
        try {
          Team{network.World(rank), {.threads = 2}}.Run([&](Member& me) {
            me.Barrier();
            if (me.Rank() == finder) throw PeerLost(9, "as the test says");
            me.WaitUntil([] { return false; });
          });
        } catch (const PeerLost& lost) {
          if (lost.Rank() == 9) ++num_told;
        }
      });
      CHECK(num_told == network.Size());
    }
  }
}

TEST_CASE("A process that does not come in time ends the run of all, and no other is named") {
  struct Layout {
    std::size_t num_processes;
    std::size_t per_host;
    bool in_call;
    bool is_named;
  };
  for (const Layout& layout : {Layout{2, 2, true, true}, Layout{2, 1, true, true}, Layout{2, 1, false, false}, Layout{5, 2, true, false}}) {
    for (const std::size_t silent : {std::size_t{0}, layout.num_processes - 1}) {
      CAPTURE(layout.num_processes, layout.per_host, layout.in_call, silent);
      LoopbackNetwork network{layout.num_processes, layout.per_host};
      std::atomic<std::size_t> num_ready{0};
      std::atomic<std::size_t> num_told{0};
      std::atomic<std::size_t> num_naming{0};
      std::atomic<std::size_t> num_misled{0};
      network.Together([&](std::size_t rank) {
        const Team team{network.World(rank), {.peer_timeout = std::chrono::milliseconds(500)}};
        try {
          team.Run([&](Member& me) {
            me.Barrier();
            ++num_ready;  // so that none begins to wait before the others are there
            WaitUntil([&] { return num_ready == layout.num_processes; });
            if (me.Rank() == silent) {
              WaitUntil([&] { return num_told + 1 == layout.num_processes; }, After(std::chrono::seconds(20)));
              throw PeerLost("this one is silent", silent);
            }
            if (layout.in_call) me.Barrier();
            else me.WaitUntil([] { return false; });
          });
        } catch (const PeerLost& lost) {
          if (rank != silent && lost.Rank()) ++(lost.Rank() == silent ? num_naming : num_misled);
          ++num_told;
        }
      });
      CHECK(num_told == layout.num_processes);
      CHECK(num_misled == 0);
      CHECK((!layout.is_named || num_naming == layout.num_processes - 1));
    }
  }
  CHECK_THROWS_AS(Team({}, {.peer_timeout = std::chrono::nanoseconds(0)}), InputError);
}

TEST_CASE("A process whose leader has nothing more to do gives up a silent one of its host") {
  LoopbackNetwork network{4, 2};
  std::atomic<std::size_t> num_told{0};
  network.Together([&](std::size_t rank) {
    try {
      Team{network.World(rank), {.peer_timeout = std::chrono::milliseconds(500)}}.Run([&](Member& me) {
        me.Barrier();
        if (me.Rank() != 1) return;
        WaitUntil([&] { return num_told == 3; }, After(std::chrono::seconds(20)));
        throw PeerLost("this one is silent", 1);
      });
    } catch (const PeerLost&) {
      ++num_told;
    }
  });
  CHECK(num_told == 4);
}

TEST_CASE("A member that throws ends the waits of the others of its process") {
  const Team team{{}, {.threads = 3}};
  for (int round = 0; round < 20; ++round) {
    const std::string words = WordsThrownBy([&] {
      team.Run([&](Member& me) {
        if (me.Rank() == 1) throw std::runtime_error("the culprit");
        auto inlet = me.InletTo<int>(me.Rank(), {.depth = 1});
        auto outlet = me.OutletFrom<int>(me.Rank(), {.depth = 1});
        if (round % 3 == 0) me.WaitUntil([] { return false; });
        else if (round % 3 == 1) me.Step(outlet);
        else for (;;) me.Put(inlet, 1);
      });
    });
    CHECK(words == "the culprit");
  }
  CHECK(team.Run([](Member& me) { return static_cast<int>(me.AllReduce(1, std::plus<>{})); }) == 3);  // it is of use again
}

TEST_CASE("A member that throws ends the waits of the others at its conduits") {
  const Team team{{}, {.threads = 2}};
  std::atomic<int> num_ended{0};
  const std::string words = WordsThrownBy([&] {
    team.Run([&](Member& me) {
      auto inlet = me.InletTo<int>(1 - me.Rank(), {.depth = 1});
      auto outlet = me.OutletFrom<int>(1 - me.Rank(), {.depth = 1});
      me.Connect();
      if (me.Rank() == 1) throw std::runtime_error("the culprit");
      if (!outlet.Step()) ++num_ended;
      inlet.TryPut(1);
      if (!inlet.Put(2)) ++num_ended;
    });
  });
  CHECK(words == "the culprit");
  CHECK(num_ended == 2);
}

TEST_CASE("A run inside a run is refused") {
  const Team team{{}, {.threads = 2}};
  std::atomic<int> num_refused{0};
  team.Run([&](Member& me) {
    if (me.IsRoot()) {
      try {
        team.Run([](Member&) {});
      } catch (const Error&) {
        ++num_refused;
      }
    }
    me.Barrier();
  });
  CHECK(num_refused == 1);
}

TEST_CASE("A member that claims more bytes than its board has is refused") {
  constexpr std::size_t capacity = 64;
  alignas(cache_line) std::byte memory[RoundBoard::NumBytes(capacity)];
  RoundBoard::Create(memory, capacity);
  RoundBoard board(memory, capacity);
  board.Post(1, 7, 8, capacity);
  CHECK(board.Read(1)->bytes.size() == capacity);
  CHECK_FALSE(board.Read(2));
  board.Post(2, 7, 8, capacity + 1);
  CHECK_THROWS_AS(board.Read(2), Error);
  CHECK_FALSE(board.HasLeft(1));
  board.Leave(3);
  CHECK(board.HasLeft(3));
  CHECK_FALSE(board.HasLeft(4));
}

TEST_CASE("A host that sends nonsense is refused") {
  // The blocks of a round with this number, as an honest host would send them, and changes to them.
  const auto exchange = [](auto&& change) {
    LoopbackNetwork network{2};
    std::string words = "nothing";
    network.Together([&](std::size_t rank) {
      const World world = network.World(rank);
      if (rank == 0) {
        HostRounds rounds(world, 1, {0, 1}, 0, 64);
        rounds.OwnBlock().assign(4, std::byte{1});
        rounds.Begin(1, 5);
        try {
          WaitUntil([&] { return rounds.TryEnd(); }, After(std::chrono::seconds(10)));
          words = std::to_string(rounds.Block(1).size());
        } catch (const Error& error) {
          words = error.what();
        }
      } else {
        AnyLink link = world.OpenLink(0, 1, {.num_sends = 4, .num_receives = 4, .payload_bytes = 80});
        Frame frame(80);
        frame.Header() = FrameHeader{.num_bytes = 12, .update = 5, .base = 1};
        StoreBytes(std::uint64_t{4}, {frame.Payload(), 8});
        change(frame);
        link.TrySend(frame);
      }
    });
    return words;
  };
  CHECK(exchange([](Frame&) {}) == "4");
  const std::string refused = "rank 1 has sent something else than its part of round 5";
  CHECK(exchange([](Frame& frame) { frame.Header().update = 6; }) == refused);
  CHECK(exchange([](Frame& frame) { frame.Header().num_bytes = 11; }) == refused);
  CHECK(exchange([](Frame& frame) { frame.Header().num_bytes = 3; }) == refused);
  CHECK(exchange([](Frame& frame) { StoreBytes(~std::uint64_t{0}, {frame.Payload(), 8}); }) == refused);
  const auto closes = [](std::uint32_t code) {
    return [code](Frame& frame) { frame.Header() = FrameHeader{.kind = FrameKind::close, .update = code, .base = 1}; };
  };
  const std::string who = "a member on the host of rank 1";
  CHECK(exchange(closes(0)) == who + " has left, so a collective call of the others can never end");
  CHECK(exchange(closes(Leaving::Failed().Code())) == who + " has failed and left, so a collective call of the others can never end");
  CHECK(exchange(closes(Leaving::Lost(7).Code())) == "rank 7 has ended or does not answer, as " + who + " has found");
  CHECK(exchange(closes(Leaving::Lost({}).Code())) == "a process has ended or does not answer, as " + who + " has found");
}
