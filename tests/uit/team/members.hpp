#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <uit/team/member.hpp>

#include "tests/support/catch.hpp"

/// What every member of a team must find, whatever the layout.
namespace uit::testing {

/// The checks of members: only the line of the last that failed, because a test's macros are for one thread.
class Checks {
 public:
  void That(bool holds, int line) {
    if (!holds) failed_line_.store(line);
  }
  ~Checks() { CHECK(failed_line_.load() == 0); }

 private:
  std::atomic<int> failed_line_{0};
};
#define THAT(condition) checks.That((condition), __LINE__)

/// Calls every collective for values.
inline void CheckValues(Member& me, Checks& checks) {
  const std::size_t size = me.Size();
  const std::size_t rank = me.Rank();
  for (std::size_t root = 0; root < size; ++root) {
    THAT(me.Broadcast(rank * 10, root) == root * 10);
    THAT(me.Broadcast(std::string(rank * 1000, 'x') + std::to_string(rank), root) ==
         std::string(root * 1000, 'x') + std::to_string(root));
    const auto gathered = me.Gather(static_cast<int>(rank) - 5, root);
    THAT(gathered.size() == (rank == root ? size : 0));
    for (std::size_t i = 0; i < gathered.size(); ++i) THAT(gathered[i] == static_cast<int>(i) - 5);
    const auto sum = me.Reduce(rank + 1, std::plus<>{}, root);
    THAT(sum.has_value() == (rank == root));
    THAT(!sum || *sum == size * (size + 1) / 2);
  }
  THAT(me.AllReduce(rank, [](std::size_t a, std::size_t b) { return std::max(a, b); }) == size - 1);
  const auto words = me.AllGather(std::string(rank, 'a' + static_cast<char>(rank % 26)));
  THAT(words.size() == size);
  for (std::size_t i = 0; i < size; ++i) THAT(words[i] == std::string(i, 'a' + static_cast<char>(i % 26)));
  // In order of the members: this operation is not commutative.
  const std::string joined =
      me.AllReduce(std::to_string(rank) + ",", [](const std::string& a, const std::string& b) { return a + b; });
  std::string expected;
  for (std::size_t i = 0; i < size; ++i) expected += std::to_string(i) + ",";
  THAT(joined == expected);
  std::vector<std::string> parts;
  for (std::size_t to = 0; to < size; ++to) parts.push_back(std::to_string(rank) + ">" + std::to_string(to));
  const auto received = me.AllToAll(parts);
  for (std::size_t from = 0; from < size; ++from) THAT(received[from] == std::to_string(from) + ">" + std::to_string(rank));
  me.Barrier();
}

/// A number that is no sum of few powers of two.
inline double NumberOf(std::size_t rank) { return 1.0 / static_cast<double>(3 * rank + 1); }

/// Calls every collective for spans of `count` elements.
inline void CheckSpans(Member& me, std::size_t count, Checks& checks) {
  const std::size_t size = me.Size();
  std::vector<double> data(count);
  std::vector<double> expected(count, 0.0);
  for (std::size_t i = 0; i < count; ++i) {
    data[i] = NumberOf(me.Rank() + i);
    expected[i] = NumberOf(i);
    for (std::size_t rank = 1; rank < size; ++rank) expected[i] += NumberOf(rank + i);
  }
  const std::vector<double> mine = data;
  me.AllReduce(std::span{data}, std::plus<>{});
  THAT(data == expected);  // in order of the members, to the last bit
  const std::size_t root = count % size;
  data = mine;
  me.Reduce(std::span{data}, std::plus<>{}, root);
  THAT(me.Rank() != root || data == expected);

  std::vector<double> each;  // of all members
  for (std::size_t rank = 0; rank < size; ++rank)
    for (std::size_t i = 0; i < count; ++i) each.push_back(NumberOf(rank + i));
  std::vector<double> all(count * size, -1.0);
  me.AllGather(std::span<const double>{mine}, std::span{all});
  THAT(all == each);
  all.assign(me.Rank() == root ? count * size : 0, -1.0);
  me.Gather(std::span<const double>{mine}, std::span{all}, root);
  THAT(me.Rank() != root || all == each);

  data = mine;
  me.Broadcast(std::span{data}, size - 1);
  for (std::size_t i = 0; i < count; ++i) THAT(data[i] == NumberOf(size - 1 + i));

  std::vector<std::uint32_t> parts(count * size);
  std::vector<std::uint32_t> received(count * size, 0);
  for (std::size_t i = 0; i < parts.size(); ++i) parts[i] = static_cast<std::uint32_t>(me.Rank() * 1'000'000 + i);
  me.AllToAll(std::span<const std::uint32_t>{parts}, std::span{received});
  for (std::size_t from = 0; from < size; ++from)
    for (std::size_t i = 0; i < count; ++i) THAT(received[from * count + i] == from * 1'000'000 + me.Rank() * count + i);
}

}  // namespace uit::testing
