#pragma once

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
  /// Collective.
  ByConveyor(uit::Member& me, std::size_t buffer_bytes, Table& table)
      : me_(me), conveyor_(me, [&table](const Update& update) { table.Apply(update); }, {.buffer_bytes = buffer_bytes}) {}

  /// Collective. Makes this member's updates, and ends when those of all members have been applied.
  void Run(UpdateStream updates, std::uint64_t num_updates, const Table& table) {
    for (std::uint64_t i = 0; i < num_updates; ++i) {
      const Update update = updates.Next();
      conveyor_.Push(table.OwnerOf(update), update);
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
  uit::Conveyor<Update> conveyor_;
};

}  // namespace gups
