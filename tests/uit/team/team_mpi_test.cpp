// A team of threads and processes: collective calls, conduits between members, groups, and members that fail.
#include <uit/team/member.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/team/core_spread.hpp>
#include <uit/team/team.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/goal.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/support/pmpi/watch.hpp"
#include "tests/support/thrown.hpp"
#include "tests/uit/core/support/sanitized.hpp"
#include "tests/uit/team/members.hpp"

using namespace uit;
using namespace uit::testing;
using namespace std::chrono_literals;

namespace {

Team TeamWith(std::uint32_t threads) { return Team{MpiTestWorld(), {.threads = threads}}; }

}  // namespace

TEST_CASE("Every member gets what a collective call promises") {
  for (const std::uint32_t threads : {1U, 2U, 3U}) {
    Checks checks;
    TeamWith(threads).Run([&](Member& me) {
      THAT(me.Size() == MpiTestWorld().Size() * threads);
      THAT(me.Rank() == me.Process() * threads + me.Thread());
      THAT(me.Process() == MpiTestWorld().Rank());
      CheckValues(me, checks);
    });
  }
}

TEST_CASE("Spans of any length are combined, gathered, broadcast and exchanged in place") {
  for (const std::uint32_t threads : {1U, 2U}) {
    Checks checks;
    TeamWith(threads).Run([&](Member& me) {
      for (const std::size_t count : {0UL, 1UL, 7UL, 100UL, 5000UL, 8192UL, 8193UL, 30'001UL}) CheckSpans(me, count, checks);
    });
  }
}

TEST_CASE("A sum of doubles has the same bits on every layout") {
  // 1 x 4, 2 x 2 and 4 x 1, as many as this job has processes for.
  if (4 % MpiTestWorld().Size() != 0) return;
  const auto sum = [](std::size_t i, const std::array<std::size_t, 4>& ranks) {
    double total = NumberOf(ranks[0] + i);
    for (const std::size_t rank : {ranks[1], ranks[2], ranks[3]}) total += NumberOf(rank + i);
    return total;
  };
  constexpr std::size_t num_sums = 200;
  std::array<int, 2> num_others{};  // sums that have other bits in another order, or if those of two processes are added
  for (std::size_t i = 0; i < num_sums; ++i) {
    const double expected = sum(i, {0, 1, 2, 3});
    num_others[0] += expected != sum(i, {3, 2, 1, 0}) ? 1 : 0;
    num_others[1] += expected != (NumberOf(i) + NumberOf(i + 1)) + (NumberOf(i + 2) + NumberOf(i + 3)) ? 1 : 0;
  }
  CHECK(num_others[0] > 20);
  CHECK(num_others[1] > 20);
  Checks checks;
  TeamWith(static_cast<std::uint32_t>(4 / MpiTestWorld().Size())).Run([&](Member& me) {
    Member turned = me.Split(0, -static_cast<std::int64_t>(me.Rank()));
    for (std::size_t i = 0; i < num_sums; ++i) {
      const double mine = NumberOf(me.Rank() + i);
      const double expected = sum(i, {0, 1, 2, 3});
      const double expected_turned = sum(i, {3, 2, 1, 0});
      THAT(me.AllReduce(mine, std::plus<>{}) == expected);
      THAT(me.Reduce(mine, std::plus<>{}, i % 4).value_or(expected) == expected);
      THAT(turned.AllReduce(mine, std::plus<>{}) == expected_turned);
      THAT(turned.Reduce(mine, std::plus<>{}, i % 4).value_or(expected_turned) == expected_turned);
    }
  });
}

TEST_CASE("Pinned threads of all processes of a host have different CPUs while there are enough") {
  const std::size_t num_usable = NumUsableCores();
  const Team team{MpiTestWorld(), {.threads = 2, .pins_threads = true}};
  Checks checks;
  team.Run([&](Member& me) {
    const std::vector<std::uint32_t> cpus = me.AllGather(team.Cpus()[me.Thread()]);
    const std::set<std::uint32_t> distinct(cpus.begin(), cpus.end());
    THAT(distinct.size() >= std::min(cpus.size(), num_usable));
    THAT(NumUsableCores() == 1);
  });
  CHECK(NumUsableCores() == num_usable);
}

TEST_CASE("No member leaves a barrier before all have come") {
  for (const std::uint32_t threads : {1U, 4U}) {
    Checks checks;
    TeamWith(threads).Run([&](Member& me) {
      // Nothing sent after one member's exit is seen before another's: every member tells each round's number to one in the next process.
      const std::size_t distance = me.Size() == threads ? 1 : threads;
      auto right = me.InletTo<std::uint64_t, latest>((me.Rank() + distance) % me.Size());
      auto left = me.OutletFrom<std::uint64_t, latest>((me.Rank() + me.Size() - distance) % me.Size());
      me.Connect();
      const auto newest = [&](std::uint64_t late) {  // some members come late to each barrier
        if (late % 16 == me.Rank() % 16) std::this_thread::sleep_for(20us);
        me.Poll();
        left.Jump();
        return left.Get();
      };
      const std::uint64_t num_rounds = is_slow_build ? 300U : PerCommitOrNight(1000U, 5000U);
      for (std::uint64_t round = 1; round <= num_rounds; ++round) {
        THAT(newest(round + 8) < round);
        me.Barrier();
        right.TryPut(round);
        THAT(newest(round) <= round);
        me.Barrier();
      }
    });
  }
}

TEST_CASE("No collective call waits inside MPI") {
  Checks checks;
  TeamWith(2).Run([&](Member& me) {
    me.Barrier();  // here the team's set-up is over
    const pmpi::NoWaiting no_waiting;
    CheckValues(me, checks);
    CheckSpans(me, 5000, checks);
  });
  CHECK(pmpi::FirstWaitingCall() == "none");
}

TEST_CASE("A member may leave right after its last call") {
  // The others must find what it has brought, and not that it has left.
  const Team team = TeamWith(2);
  for (int round = 0; round < 500; ++round) CHECK(team.Run([](Member& me) { me.Barrier(); }) == 0);
}

TEST_CASE("A call that has begun waits for nobody before Get") {
  Checks checks;
  TeamWith(2).Run([&](Member& me) {
    std::vector<MemberOutlet<int, every>> heard;
    MemberInlet<int, every> tell;
    if (!me.IsRoot()) tell = me.InletTo<int>(0);
    else for (std::size_t rank = 1; rank < me.Size(); ++rank) heard.push_back(me.OutletFrom<int>(rank));
    me.Connect();
    for (int round = 0; round < 20; ++round) {
      if (me.IsRoot()) {  // begins only when all others have tried to finish
        for (auto& other : heard) THAT(me.WaitUntil([&] { return other.TryStep() != 0; }, uit::After(20s)));
        THAT(me.StartAllReduce(1, std::plus<>{}).Get() == static_cast<int>(me.Size()));
      } else {
        auto sum = me.StartAllReduce(1, std::plus<>{});
        THAT(!sum.TryFinish());
        THAT(tell.TryPut(round));
        THAT(sum.Get() == static_cast<int>(me.Size()));
      }
    }
  });
}

TEST_CASE("A member works while a collective call is under way") {
  Checks checks;
  TeamWith(2).Run([&](Member& me) {
    for (int round = 0; round < 50; ++round) {
      auto sum = me.StartAllReduce(me.Rank() + 1, std::plus<>{});
      while (!sum.TryFinish()) std::this_thread::yield();
      THAT(*sum.Get() == me.Size() * (me.Size() + 1) / 2);
      const auto barrier = me.StartBarrier();  // ends with its scope
    }
    std::vector<float> data(50'000, 1.0F);
    auto all = me.StartAllReduce(std::span{data}, std::plus<>{});
    bool is_refused = false;
    try {
      me.Barrier();
    } catch (const Error&) {
      is_refused = true;
    }
    THAT(is_refused);
    all.Get();
    THAT(std::ranges::all_of(data, [&](float value) { return value == static_cast<float>(me.Size()); }));
  });
}

TEST_CASE("Members greet each other in a ring, and no message is lost") {
  const auto greeting = [](std::size_t rank, std::uint64_t number) {  // every fourth has no bytes
    return std::vector<std::uint64_t>(number % 4, 1000 * rank + number);
  };
  for (const std::uint32_t threads : {1U, 2U, 3U}) {
    Checks checks;
    TeamWith(threads).Run([&](Member& me) {
      auto right = me.InletTo<std::vector<std::uint64_t>>(me.Right(), {.depth = 8});
      auto left = me.OutletFrom<std::vector<std::uint64_t>>(me.Left(), {.depth = 8});
      auto second = me.InletTo<std::uint64_t, latest>(me.Right());
      auto newest = me.OutletFrom<std::uint64_t, latest>(me.Left());
      me.Connect();
      THAT(newest.Get() == 0);
      second.TryPut(me.Rank() + 1);
      std::uint64_t num_put = 0;
      std::uint64_t num_read = 0;
      const bool is_whole = me.WaitUntil(
          [&] {
            if (num_put < 300 && right.TryPut(greeting(me.Rank(), num_put))) ++num_put;
            while (left.TryStep()) {
              THAT(left.Get() == greeting(me.Left(), num_read));
              ++num_read;
            }
            newest.Jump();
            return num_put == 300 && num_read == 300 && newest.Get() == me.Left() + 1;
          },
          After(60s));
      THAT(is_whole);
      me.Barrier();
    });
  }
}

TEST_CASE("A thousand conduits from one member to another are joined, and none is mistaken for another") {
  constexpr std::uint64_t num_conduits = 1000;
  Checks checks;
  TeamWith(2).Run([&](Member& me) {
    const std::size_t other = (me.Rank() + 2) % me.Size();  // in another process, if there is one
    const std::size_t before = (me.Rank() + me.Size() - 2) % me.Size();
    std::vector<MemberInlet<std::uint64_t>> to;
    std::vector<MemberOutlet<std::uint64_t>> from;
    for (std::uint64_t i = 0; i < num_conduits; ++i) {
      to.push_back(me.InletTo<std::uint64_t>(other, {.depth = 1}));
      from.push_back(me.OutletFrom<std::uint64_t>(before, {.depth = 1}));
    }
    me.Connect();
    for (std::uint64_t i = num_conduits; i-- > 0;) THAT(to[i].TryPut(num_conduits * me.Rank() + i));
    for (std::uint64_t i = 0; i < num_conduits; ++i) {
      THAT(me.Step(from[i], After(60s)));
      THAT(from[i].Get() == num_conduits * before + i);
    }
    me.Barrier();
  });
}

TEST_CASE("Large messages between members are lent, put and read in place, and none is lost") {
  constexpr std::size_t num_messages = 60;
  constexpr std::size_t most = 131'072;  // numbers: 1 MiB
  const auto count_of = [](std::size_t number) { return number % 4 == 3 ? std::size_t{5} : most - 1000 * (number % 4); };
  for (const std::uint32_t threads : {1U, 2U}) {
    Checks checks;
    TeamWith(threads).Run([&](Member& me) {
      const ConduitOptions options{.depth = 4, .max_message_bytes = most * sizeof(double)};
      auto right = me.InletTo<std::vector<double>>(me.Right(), options);
      auto left = me.OutletFrom<std::vector<double>>(me.Left(), options);
      me.Connect();
      std::size_t num_put = 0;
      std::size_t num_read = 0;
      const auto put = [&] {
        const std::size_t count = count_of(num_put);
        const auto value = static_cast<double>(me.Rank() * num_messages + num_put);
        if (num_put % 2 == 0) return right.TryPut(std::vector<double>(count, value));
        right.TryLoan(count);  // never published
        const auto room = right.TryLoan(count);
        if (!room) return false;
        std::ranges::fill(*room, value);
        return right.Publish(*room);
      };
      const auto check = [&](std::span<const double> numbers) {
        const auto value = static_cast<double>(me.Left() * num_messages + num_read);
        THAT(numbers.size() == count_of(num_read));
        THAT(std::ranges::all_of(numbers, [&](double number) { return number == value; }));
      };
      const bool is_whole = me.WaitUntil(
          [&] {
            if (num_put < num_messages && put()) ++num_put;
            right.Poll();
            if (num_read % 3 == 0) {
              if (left.TryRead(check)) ++num_read;
            } else if (left.TryStep() != 0) {
              check(left.Get());
              ++num_read;
            }
            return num_put == num_messages && num_read == num_messages;
          },
          After(60s));
      THAT(is_whole);
      THAT(left.TryStep() == 0);
      const PutTally tally = right.Tally();
      THAT(tally.attempted - tally.dropped == num_messages);
      bool is_refused = false;
      try {
        right.TryPut(std::vector<double>(most + 1));
      } catch (const MessageTooLarge& error) {
        is_refused = std::string(error.what()) == MessageTooLarge(8 * (most + 1), 8 * most).what();
      }
      THAT(is_refused);
      me.Barrier();
    });
  }
}

TEST_CASE("Members that wait in a collective call run chunks of the loops of others") {
  for (const std::uint32_t threads : {1U, 2U, 3U}) {
    Checks checks;
    TeamWith(threads).Run([&](Member& me) {
      // One thread of each process has a loop; the others wait for it, and for those of other processes.
      for (int round = 0; round < 10; ++round) {
        if (me.Thread() == static_cast<std::uint32_t>(round) % threads) {
          const auto mine = std::this_thread::get_id();
          std::atomic<int> num_by_others{0};
          std::vector<std::atomic<int>> runs(100);
          me.ParallelFor(runs.size(), 3, [&](std::size_t begin, std::size_t end) {
            if (std::this_thread::get_id() != mine) ++num_by_others;
            else if (threads > 1) uit::WaitUntil([&] { return num_by_others > 0; }, After(30s));  // the others come
            for (std::size_t i = begin; i < end; ++i) ++runs[i];
          });
          THAT((num_by_others > 0) == (threads > 1));
          THAT(std::ranges::all_of(runs, [](const std::atomic<int>& count) { return count == 1; }));
        }
        me.Barrier();
      }
      const double sum = me.ParallelReduce(1000, 7, 0.5, [](std::size_t begin, std::size_t end) {
        double part = 0;
        for (std::size_t i = begin; i < end; ++i) part += NumberOf(i);
        return part;
      }, std::plus<>{});
      const std::vector<double> sums = me.AllGather(sum);
      THAT(std::ranges::all_of(sums, [&](double other) { return other == sum; }));
      double expected = 0.5;
      for (std::size_t begin = 0; begin < 1000; begin += 7) {
        double part = 0;
        for (std::size_t i = begin; i < std::min<std::size_t>(begin + 7, 1000); ++i) part += NumberOf(i);
        expected += part;
      }
      THAT(sum == expected);
      THAT(me.ParallelReduce(100, 7, false, [](std::size_t begin, std::size_t end) { return begin <= 50 && 50 < end; }, std::logical_or<>{}));
      bool has_thrown = false;
      try {
        me.ParallelFor(10, 1, [](std::size_t, std::size_t) { throw std::runtime_error("in a chunk"); });
      } catch (const std::runtime_error&) {
        has_thrown = true;
      }
      THAT(has_thrown);
    });
  }
}

TEST_CASE("A member that waits in a collective call for another process alone runs chunks of the loops of its own") {
  if (MpiTestWorld().Size() == 1) return;
  Checks checks;
  std::atomic<bool> may_come{false};  // the second member of process 0
  TeamWith(2).Run([&](Member& me) {
    Member column = me.Split(me.Thread());
    const bool is_first = me.Process() == 0;
    for (std::size_t round = 1; round <= 5; ++round) {
      if (me.Thread() == 1) {
        if (is_first) THAT(uit::WaitUntil([&] { return may_come.exchange(false); }, After(60s)));
        THAT(column.AllReduce(round, std::plus<>{}) == round * column.Size());
      } else {
        std::atomic<int> num_by_other{0};
        const auto mine = std::this_thread::get_id();
        if (!is_first) {
          me.ParallelFor(2, 1, [&](std::size_t, std::size_t) {
            if (std::this_thread::get_id() != mine) ++num_by_other;
            else uit::WaitUntil([&] { return num_by_other > 0; }, After(5s));
          });
          THAT(num_by_other > 0);
        }
        column.Barrier();
        if (is_first) may_come = true;
      }
      me.Barrier();
    }
  });
}

TEST_CASE("Members that wait for room or for a message run chunks of the loops of others") {
  // In each process thread 0 has loops, of which thread 1 must run a chunk while it waits for thread 0 of the next process.
  Checks checks;
  std::atomic<int> num_waiting{0};  // waits that thread 1 of this process has begun
  TeamWith(2).Run([&](Member& me) {
    const bool has_loops = me.Thread() == 0;
    const std::size_t next = (me.Rank() + 1) % me.Size();
    const std::size_t last = me.Left();
    MemberInlet<int> to;
    MemberOutlet<int> from;
    MemberInlet<int> answer;
    MemberOutlet<int> answered;
    if (has_loops) {
      from = me.OutletFrom<int>(last, {.depth = 2});
      answer = me.InletTo<int>(last);
    } else {
      to = me.InletTo<int>(next, {.depth = 2});
      answered = me.OutletFrom<int>(next);
    }
    me.Connect();
    const auto loop = [&](int number) {
      uit::WaitUntil([&] { return num_waiting >= number; }, After(30s));
      std::atomic<bool> is_helped{false};
      const auto mine = std::this_thread::get_id();
      me.ParallelFor(2, 1, [&](std::size_t, std::size_t) {
        if (std::this_thread::get_id() != mine) is_helped = true;
        else uit::WaitUntil([&] { return is_helped.load(); }, After(10s));
      });
      THAT(is_helped);
    };
    if (has_loops) {
      loop(1);
      bool has_more = true;
      while (has_more && from.Get() != -1) THAT(has_more = me.Step(from, After(30s)));
      loop(2);
      THAT(answer.TryPut(5));
    } else {
      while (to.TryPut(0)) {}
      ++num_waiting;
      THAT(me.Put(to, -1, After(60s)));
      ++num_waiting;
      THAT(me.Step(answered, After(60s)));
      THAT(answered.Get() == 5);
    }
    me.Barrier();
  });
}

TEST_CASE("A team is split by colors and keys") {
  Checks checks;
  TeamWith(3).Run([&](Member& me) {
    for (int round = 0; round < 2; ++round) {
      Member half = me.Split(static_cast<std::int64_t>(me.Rank() % 2), -static_cast<std::int64_t>(me.Rank()));
      THAT(half.Size() == (me.Size() + 1 - me.Rank() % 2) / 2);
      std::vector<std::size_t> expected;
      for (std::size_t rank = me.Size(); rank-- > 0;)
        if (rank % 2 == me.Rank() % 2) expected.push_back(rank);
      THAT(half.AllGather(me.Rank()) == expected);
      THAT(half.Broadcast(me.Rank(), 0) == expected.front());
      auto to = half.InletTo<std::size_t>(half.Right());
      auto from = half.OutletFrom<std::size_t>(half.Left());
      me.Connect();
      Member again = me.Split(0);
      THAT(again.AllReduce(std::size_t{1}, std::plus<>{}) == me.Size());
      std::vector<int> data(20'000, 1);
      half.AllReduce(std::span{data}, std::plus<>{});
      THAT(data.back() == static_cast<int>(half.Size()));
      me.Barrier();
    }
  });
}

TEST_CASE("Groups of a team are split again, also of different sizes at the same time") {
  for (const std::uint32_t threads : {1U, 2U, 3U}) {
    Checks checks;
    TeamWith(threads).Run([&](Member& me) {
      const auto descending = [&](std::size_t divisor) {  // the ranks that are congruent to this member's, in the order of the groups
        std::vector<std::size_t> ranks;
        for (std::size_t rank = me.Size(); rank-- > 0;)
          if (rank % divisor == me.Rank() % divisor) ranks.push_back(rank);
        return ranks;
      };
      const auto check = [&](Member& group, const std::vector<std::size_t>& ranks) {
        THAT(group.AllGather(me.Rank()) == ranks);
        std::vector<std::size_t> data(20'000, 1);
        group.AllReduce(std::span{data}, std::plus<>{});
        THAT(data.back() == ranks.size());
      };
      Member half = me.Split(static_cast<std::int64_t>(me.Rank() % 2), -static_cast<std::int64_t>(me.Rank()));
      check(half, descending(2));
      for (int round = 0; round < 2; ++round) {
        Member quarter = half.Split(static_cast<std::int64_t>(me.Rank() / 2 % 2));
        check(quarter, descending(4));
        auto to = quarter.InletTo<std::size_t>(quarter.Right());
        auto from = quarter.OutletFrom<std::size_t>(quarter.Left());
        me.Connect();
        to.TryPut(me.Rank());
        THAT(quarter.Step(from, After(30s)));
        THAT(from.Get() == descending(4)[quarter.Left()]);
        const bool is_even = me.Rank() % 2 == 0;  // these divide what the others keep
        Member eighth = is_even ? quarter.Split(static_cast<std::int64_t>(me.Rank() / 4 % 2)) : half.Split(0);
        check(eighth, descending(is_even ? 8 : 2));
        check(half, descending(2));
        check(quarter, descending(4));
        Member turned = me.Split(0, -static_cast<std::int64_t>(me.Rank()));
        check(turned, descending(1));
        me.Barrier();
      }
    });
  }
}

TEST_CASE("If a member throws, all others notice, and Run throws on every process") {
  const Team team = TeamWith(2);
  for (std::size_t culprit = 0; culprit < 2 * MpiTestWorld().Size(); ++culprit) {
    std::string words;
    try {
      team.Run([&](Member& me) {
        me.Barrier();
        if (me.Rank() == culprit) throw std::runtime_error("the culprit");
        for (;;) me.Barrier();
      });
    } catch (const std::exception& error) {
      words = error.what();
    }
    CHECK(words == (MpiTestWorld().Rank() == culprit / 2 ? "the culprit" : "rank " + std::to_string(culprit / 2) + " failed"));
    // The team can go on.
    std::atomic<std::uint64_t> sum{0};
    CHECK(team.Run([&](Member& me) {
      sum += me.AllReduce(std::uint64_t{1}, std::plus<>{});
      return me.Rank() + 1 == me.Size() ? 3 : 0;
    }) == 3);
    CHECK(sum == 2 * 2 * MpiTestWorld().Size());
  }
}

TEST_CASE("If a member throws while a call of others is under way, their Run throws, too") {
  const Team team = TeamWith(2);
  const std::string culprit = MpiTestWorld().IsRoot() ? "the culprit" : "rank 0 failed";
  const auto words = [&](auto&& begin) {
    return WordsThrownBy([&] {
      team.Run([&](Member& me) {
        if (me.Rank() == 1) throw std::runtime_error("the culprit");
        begin(me);
      });
    });
  };
  CHECK(words([](Member& me) { const auto barrier = me.StartBarrier(); }) == culprit);
  // What has been caught once does not come again.
  std::atomic<std::size_t> num_caught{0};
  CHECK(words([&](Member& me) {
    auto barrier = me.StartBarrier();
    try {
      barrier.Get();
    } catch (const std::exception&) {
      ++num_caught;
    }
  }) == culprit);
  // Nor is a second call mistaken for one within the first.
  CHECK(words([&](Member& me) {
    try {
      me.Barrier();
    } catch (const std::exception&) {
      me.Barrier();
    }
  }) == culprit);
  CHECK(num_caught == (MpiTestWorld().IsRoot() ? 1U : 2U));
}

TEST_CASE("Members that disagree are told") {
  const Team team = TeamWith(2);
  const auto fails = [&](auto&& work) {
    try {
      team.Run(work);
    } catch (const FailedElsewhere&) {
      return std::string("elsewhere");
    } catch (const std::exception& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  // A process may first learn that another, which has been told, has failed.
  const auto is_of_another = [](const std::string& words) { return words == "elsewhere" || words.ends_with("so the run has failed"); };
  const auto differs = [&](const std::string& words) {
    return words.find("different collective calls") != std::string::npos || is_of_another(words);
  };
  CHECK(differs(fails([](Member& me) {
    if (me.IsRoot()) me.Barrier();
    else me.AllReduce(1, std::plus<>{});
  })));
  CHECK(differs(fails([](Member& me) {
    if (me.IsRoot()) me.AllReduce(1L, std::plus<>{});
    else me.AllReduce(1.0, std::plus<>{});
  })));
  CHECK(differs(fails([](Member& me) { me.Broadcast(1, me.Rank() == 0 ? 0 : 1); })));
  const std::string left = fails([](Member& me) {
    if (me.Rank() != 1) me.Barrier();
  });
  const auto is_told = [&](const std::string& words, const std::string& expected) {
    const bool says = words.find(expected) != std::string::npos;
    UNSCOPED_INFO(words);
    return CountRanks(says) > 0 && (says || is_of_another(words));
  };
  CHECK(is_told(left, "left, so a collective call of the others can never end"));
  std::atomic<int> num_connected{0};
  const std::string lone = fails([&](Member& me) {
    if (me.IsRoot()) (void)me.InletTo<int>(0);
    me.Connect();
    ++num_connected;
  });
  CHECK(is_told(lone, "which has opened no outlet from it"));
  CHECK(num_connected == 0);
  const std::string deeper = fails([&](Member& me) {
    if (me.Rank() == 0) (void)me.InletTo<int>(1, {.depth = 4});
    if (me.Rank() == 1) (void)me.OutletFrom<int>(0, {.depth = 64});
    me.Connect();
    ++num_connected;
  });
  CHECK(is_told(deeper, "members 0 and 1 open the ends of a conduit with different depths"));
  CHECK(num_connected == 0);
  const std::string other_type = fails([&](Member& me) {
    if (me.Rank() == 0) (void)me.InletTo<int>(1);
    if (me.Rank() == 1) (void)me.OutletFrom<unsigned>(0);
    me.Connect();
    ++num_connected;
  });
  CHECK(is_told(other_type, "members 0 and 1 open the ends of a conduit with different types or policies"));
  CHECK(num_connected == 0);
  const std::string split = fails([](Member& me) {
    Member whole = me.Split(0);
    (me.IsRoot() ? whole : me).Split(0);
  });
  CHECK(is_told(split, "some members of a group of a team split it, while others split another group"));
  CHECK(fails([](Member& me) { me.Broadcast(1, me.Size()); }).find(" is not in this group of ") != std::string::npos);
}
