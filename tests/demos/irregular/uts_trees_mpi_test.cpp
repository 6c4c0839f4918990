// Unbalanced Tree Search: members that share nodes visit every node of the benchmark's trees once.
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <uit/team/team.hpp>

#include "demos/uts/by_sharing.hpp"
#include "demos/uts/tree.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/goal.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/uit/core/support/sanitized.hpp"

using namespace uit::testing;

TEST_CASE("Members that share nodes count as many in each sample tree as the benchmark has published") {
  std::vector<std::pair<const char*, std::uint64_t>> trees{
      {"T3", 4'112'897}, {"T1", 4'130'071}, {"T2", 4'117'769}, {"T4", 4'132'453}, {"T5", 4'147'582}};
  const bool is_alone = MpiTestWorld().Size() == 1;
  if (is_sanitized || !(is_alone || IsNightly())) trees.resize(1);
  for (const auto& [name, num_nodes] : trees) {
    const uts::Tree tree = uts::TreeOf(name);
    uts::Census sum;
    std::uint64_t num_given = 0;
    uit::Team{MpiTestWorld(), {.threads = is_alone ? 2U : 1U}}.Run([&](uit::Member& me) {
      uts::BySharing sharing{me, tree, 128};
      const uts::Census found = me.AllReduce(sharing.Run(), uts::Sum);
      const std::uint64_t given = me.AllReduce(sharing.NumGiven(), std::plus<>{});
      if (me.Thread() != 0) return;
      sum = found;
      num_given = given;
    });
    CAPTURE(name);
    CHECK(sum.num_nodes == num_nodes);
    CHECK(sum == tree.published);
    CHECK(num_given > 0);
  }
}
