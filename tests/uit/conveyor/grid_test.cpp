// The rows in which members of a large team stand: two hops for every item, few peers for every member, hosts kept together.
#include <uit/conveyor/grid.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <uit/conveyor/conveyor_sizes.hpp>

#include "tests/support/catch.hpp"

using namespace uit::detail;

namespace {

/// Returns the hosts of members if successive members fill hosts of these sizes.
std::vector<std::size_t> HostsOf(const std::vector<std::size_t>& sizes) {
  std::vector<std::size_t> hosts;
  for (std::size_t host = 0; host < sizes.size(); ++host) hosts.insert(hosts.end(), sizes[host], host);
  return hosts;
}

/// Returns the hosts of members if successive members are on different hosts.
std::vector<std::size_t> Interleaved(std::size_t num_members, std::size_t num_hosts) {
  std::vector<std::size_t> hosts;
  for (std::size_t member = 0; member < num_members; ++member) hosts.push_back(member % num_hosts);
  return hosts;
}

/// Checks that each item arrives after at most two hops, of which the first is within a row and the second between rows. Returns
/// the most members with which any one exchanges items.
std::size_t CheckHops(const std::vector<std::size_t>& hosts) {
  const Grid grid{hosts};
  std::vector<std::size_t> processes;  // of one member each
  for (std::size_t member = 0; member < hosts.size(); ++member) processes.push_back(member);
  std::size_t most = 0;
  std::size_t num_wrong = 0;
  for (std::size_t from = 0; from < hosts.size(); ++from) {
    std::size_t num_peers = 0;  // to which it sends, or from which it gets items
    for (std::size_t to = 0; to < hosts.size(); ++to) {
      if (from == to) continue;
      const std::size_t next = grid.Next(from, to);
      num_peers += next == to || grid.Next(to, from) == from;
      if (next == to) continue;
      num_wrong += next == from || !grid.IsSameRow(from, next) || grid.IsSameRow(next, to) || grid.Next(next, to) != to;
    }
    const LaneCounts counts = CountLanes(grid, processes, from);
    num_wrong += counts.num_here != 1 || counts.num_elsewhere != num_peers;
    most = std::max(most, num_peers);
  }
  CHECK(num_wrong == 0);
  return most;
}

}  // namespace

TEST_CASE("In a grid every item arrives after two hops, and a member has about twice as many peers as the square root of all") {
  for (std::size_t num_members = 1; num_members <= 130; ++num_members) {
    CAPTURE(num_members);
    const auto root = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(num_members))));
    CHECK(CheckHops(HostsOf({num_members})) <= 3 * root);
    CHECK(CheckHops(Interleaved(num_members, num_members)) <= 3 * root);
  }
  CHECK(CheckHops(HostsOf({1024})) == 62);
  CHECK(CheckHops(Interleaved(1024, 1024)) == 62);
  CHECK(CheckHops(Interleaved(1024, 16)) == 62);
  CHECK(CheckHops(HostsOf(std::vector<std::size_t>(16, 64))) == 62);
}

TEST_CASE("Hosts of different sizes leave no member with many peers") {
  for (const std::vector<std::size_t>& sizes : std::vector<std::vector<std::size_t>>{
           {100, 1}, {1, 100}, {50, 3, 50, 3}, {7, 90, 3, 3, 3, 18}, {20, 20, 20, 11}, {5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5}}) {
    const std::vector<std::size_t> hosts = HostsOf(sizes);
    CAPTURE(sizes);
    CHECK(static_cast<double>(CheckHops(hosts)) <= 4 * std::sqrt(static_cast<double>(hosts.size())));
  }
}

TEST_CASE("The first hop is within the host if hosts are large enough") {
  for (const std::size_t size : {8U, 16U, 32U, 64U, 128U}) {
    const std::vector<std::size_t> hosts = HostsOf(std::vector<std::size_t>(1024 / size, size));
    const Grid grid{hosts};
    std::size_t num_apart = 0;
    for (std::size_t from = 0; from < hosts.size(); ++from)
      for (std::size_t to = 0; to < hosts.size(); ++to)
        if (from != to && grid.Next(from, to) != to) num_apart += hosts[from] != hosts[grid.Next(from, to)];
    CAPTURE(size);
    CHECK((num_apart == 0) == (size >= 16));
  }
}

TEST_CASE("The lanes of a member are counted by process") {
  const Grid grid{HostsOf({6, 6, 6, 6, 6, 6})};  // each a row
  std::vector<std::size_t> processes;
  for (std::size_t member = 0; member < 36; ++member) processes.push_back(member / 3);
  const LaneCounts counts = CountLanes(grid, processes, 7);
  CHECK(counts.num_here == 3);       // itself and two of its row
  CHECK(counts.num_elsewhere == 8);  // three of its row, and one of each other
  CHECK(counts.num_processes == 6);
}
