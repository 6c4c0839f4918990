#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include <uit/conveyor/conveyor.hpp>
#include <uit/support/error.hpp>
#include <uit/team/member.hpp>

#include "table.hpp"

namespace gups {

/// Sends updates over a conveyor to the members that own their words.
class ByConveyor {
 public:
  /// Collective. No more than `look_ahead` updates of a member wait before they leave; 0: as many as there is room for.
  ByConveyor(uit::Member& me, std::size_t buffer_bytes, std::uint64_t look_ahead, Table& table)
      : me_(me),
        look_ahead_(look_ahead),
        conveyor_(me, [&table](const Update& update) { table.Apply(update); }, {.buffer_bytes = buffer_bytes}) {}

  /// Collective. Makes this member's updates, and ends when those of all members have been applied.
  void Run(UpdateStream updates, std::uint64_t num_updates, const Table& table) {
    for (std::uint64_t i = 0; i < num_updates; ++i) {
      const Update update = updates.Next();
      conveyor_.Push(table.OwnerOf(update), update);
      if (look_ahead_ != 0 && (i + 1) % look_ahead_ == 0) conveyor_.Flush();
    }
    conveyor_.Finish();
  }
  /// Collective. Throws if an update is unaccounted for.
  void Check() {
    const uit::ConveyorTally tally = conveyor_.Tally();
    if (me_.AllReduce(tally.pushed, std::plus<>{}) != me_.AllReduce(tally.handled, std::plus<>{}))
      throw uit::Error("the accounts of updates are not exact");
  }

 private:
  uit::Member& me_;
  std::uint64_t look_ahead_;
  uit::Conveyor<Update> conveyor_;
};

}  // namespace gups
