// Each collective call in its form that begins and does not wait, for values of fixed size, for what cereal serializes, and for spans.
#include <uit/team/member.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#ifdef UIT_WITH_CEREAL
#include <cereal/types/map.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <uit/codec/cereal_codec.hpp>
#endif

#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/uit/team/members.hpp"

using namespace uit;
using namespace uit::testing;

namespace {

using Lists = std::map<std::string, std::vector<int>>;

}  // namespace

#ifdef UIT_WITH_CEREAL
template <>
inline constexpr CerealCodec<Lists> uit::codec_for<Lists>{};
#endif

namespace {

/// Ends a call by tries alone, or waits for its end.
template <typename Call>
auto End(bool by_tries, Started<Call> call) {
  while (by_tries && !call.TryFinish()) std::this_thread::yield();
  return call.Get();
}

/// Makes each call for values. Member r brings `value_of(r)`.
template <typename T, typename ValueOf, typename Op>
void CheckCalls(Member& me, ValueOf value_of, Op op, bool by_tries, Checks& checks) {
  const std::size_t root = me.Size() - 1;
  const bool is_root = me.Rank() == root;
  const T mine = value_of(me.Rank());
  std::vector<T> all{value_of(0)};
  T total = all[0];
  for (std::size_t rank = 1; rank < me.Size(); ++rank) {
    all.push_back(value_of(rank));
    total = op(total, all.back());
  }
  std::vector<T> parts;
  std::vector<T> expected;
  for (const T& other : all) {
    parts.push_back(op(mine, other));
    expected.push_back(op(other, mine));
  }
  End(by_tries, me.StartBarrier());
  THAT(End(by_tries, me.StartBroadcast(mine, root)) == all[root]);
  THAT(End(by_tries, me.StartAllReduce(mine, op)) == total);
  THAT(End(by_tries, me.StartReduce(mine, op, root)) == (is_root ? std::optional(total) : std::nullopt));
  THAT(End(by_tries, me.StartAllGather(mine)) == all);
  THAT(End(by_tries, me.StartGather(mine, root)) == (is_root ? all : std::vector<T>{}));
  THAT(End(by_tries, me.StartAllToAll(parts)) == expected);
}

/// Makes each call for spans of `count` elements.
void CheckSpanCalls(Member& me, std::size_t count, bool by_tries, Checks& checks) {
  const std::size_t size = me.Size();
  const std::size_t root = size - 1;
  const bool is_root = me.Rank() == root;
  const auto element = [](std::size_t rank, std::size_t i) { return static_cast<int>(7 * rank + i); };
  const auto combine = [](int a, int b) { return 2 * a + b; };  // so that the order matters
  std::vector<int> mine;
  std::vector<int> combined;
  for (std::size_t i = 0; i < count; ++i) {
    mine.push_back(element(me.Rank(), i));
    int value = element(0, i);
    for (std::size_t rank = 1; rank < size; ++rank) value = combine(value, element(rank, i));
    combined.push_back(value);
  }
  std::vector<int> values = mine;
  End(by_tries, me.StartAllReduce(std::span{values}, combine));
  THAT(values == combined);
  values = mine;
  End(by_tries, me.StartReduce(std::span{values}, combine, root));
  THAT(!is_root || values == combined);
  std::vector<int> data(count, static_cast<int>(me.Rank()));
  std::vector<int> each;
  for (std::size_t rank = 0; rank < size; ++rank) each.insert(each.end(), count, static_cast<int>(rank));
  std::vector<int> all(size * count, -1);
  End(by_tries, me.StartAllGather(std::span<const int>{data}, std::span{all}));
  THAT(all == each);
  all.assign(is_root ? size * count : 0, -1);
  End(by_tries, me.StartGather(std::span<const int>{data}, std::span{all}, root));
  THAT(!is_root || all == each);
  const auto part = [&](std::size_t from, std::size_t to, std::size_t i) { return static_cast<int>((from * size + to) * count + i); };
  std::vector<int> parts;
  std::vector<int> expected;
  for (std::size_t rank = 0; rank < size; ++rank) {
    for (std::size_t i = 0; i < count; ++i) {
      parts.push_back(part(me.Rank(), rank, i));
      expected.push_back(part(rank, me.Rank(), i));
    }
  }
  std::vector<int> received(size * count, -1);
  End(by_tries, me.StartAllToAll(std::span<const int>{parts}, std::span{received}));
  THAT(received == expected);
  End(by_tries, me.StartBroadcast(std::span{data}, root));
  THAT(data == std::vector<int>(count, static_cast<int>(root)));
}

/// Calls `check(me, by_tries)` on the members of some teams.
template <std::invocable<Member&, bool> Check>
void OnTeams(Check&& check) {
  for (const std::uint32_t threads : {1U, 2U})
    Team{MpiTestWorld(), {.threads = threads}}.Run([&](Member& me) {
      for (const bool by_tries : {true, false}) check(me, by_tries);
    });
}

}  // namespace

TEST_CASE("Each call that has begun ends by tries alone") {
  Checks checks;
  OnTeams([&](Member& me, bool by_tries) {
    CheckCalls<std::uint64_t>(me, [](std::size_t rank) { return rank + 3; }, [](std::uint64_t a, std::uint64_t b) { return 2 * a + b; },
                              by_tries, checks);
    for (const std::size_t count : {0UL, 3UL, 50'000UL}) CheckSpanCalls(me, count, by_tries, checks);
  });
}

#ifdef UIT_WITH_CEREAL
TEST_CASE("Every collective call takes what cereal serializes") {
  const auto lists_of = [](std::size_t rank) {  // some are longer than what a member brings at once
    const int number = static_cast<int>(rank);
    return Lists{{"all", {number}}, {std::string(rank, 'x'), std::vector<int>(rank % 2 == 0 ? 0 : 20'000, number)}};
  };
  const auto join = [](Lists lists, const Lists& others) {
    for (const auto& [name, numbers] : others) lists[name].insert(lists[name].end(), numbers.begin(), numbers.end());
    return lists;
  };
  Checks checks;
  OnTeams([&](Member& me, bool by_tries) { CheckCalls<Lists>(me, lists_of, join, by_tries, checks); });
}
#endif
